import type { Case } from './cases.mts';
import type { Played } from './play.mts';
import { SITUATIONS } from './situations.mts';

/** Counts what was simulated. */
export class Tally {
	private readonly counts = new Map<string, Map<string, number>>();

	cases = 0;

	private executions = 0;

	private readonly startedAtMs = performance.now();

	private readonly startedWith = process.cpuUsage();

	get seconds(): number {
		return (performance.now() - this.startedAtMs) / 1000;
	}

	add({ n8n }: Played, drawn: Case): void {
		const { origins, story, service, subs } = n8n;
		this.cases++;
		for (const [situation, countIn] of Object.entries(SITUATIONS)) this.count('visited', situation, countIn(n8n));
		for (const origin of origins) {
			const items = origin.names[0].length;
			this.count('items', items < 4 ? String(items) : items < 9 ? '4 to 8' : '9 and more');
			this.executions += origin.executions.length;
			for (const { status, mode } of origin.executions)
				this.count('executions', mode === 'retry' ? `${status} (retry)` : status);
		}
		this.count('engine', drawn.engine);
		this.count(
			'n8n has died',
			story.crashes === 0 ? 'never' : story.crashes < 3 ? `${story.crashes} times` : '3 times and more',
		);
		this.count('in n8n', 'tries of a node', story.tries.length);
		this.count('in n8n', 'sub-executions', subs.count);
		this.count('in n8n', 'stopped by the user', origins.filter(({ stop }) => stop.signal.aborted).length);
		this.count('at the service', 'creating requests', service.posts.length);
		this.count('at the service', 'tasks', service.tasks.list().length);
		for (const [fault, times] of service.met) this.count('faults met', fault, times);
	}

	/** The rare situations that have not occurred so far. */
	get missed(): string[] {
		return [...(this.counts.get('visited') ?? [])].flatMap(([situation, times]) => (times === 0 ? [situation] : []));
	}

	private count(what: string, value: string, times = 1): void {
		const counts = this.counts.get(what) ?? new Map<string, number>();
		this.counts.set(what, counts);
		counts.set(value, (counts.get(value) ?? 0) + times);
	}

	/** In words, with how fast it went. */
	toString(): string {
		const { user, system } = process.cpuUsage(this.startedWith);
		const aMinute = (count: number, seconds: number) => Math.round((count / seconds) * 60).toLocaleString('en');
		const processorSeconds = (user + system) / 1e6;
		const speed = `${this.cases.toLocaleString('en')} simulated, ${aMinute(this.cases, this.seconds)} a minute (${aMinute(this.cases, processorSeconds)} a minute of processor time, which are ${aMinute(this.executions, processorSeconds)} executions)`;
		const lines = [...this.counts].map(([what, counts]) => {
			const sorted = [...counts].sort(([, one], [, other]) => other - one);
			return `  ${what}: ${sorted.map(([value, times]) => `${value} ${times.toLocaleString('en')}`).join(' · ')}`;
		});
		return [speed, ...lines].join('\n');
	}
}
