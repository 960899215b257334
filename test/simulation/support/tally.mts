import type { Played } from './play.mts';
import { SITUATIONS } from './situations.mts';

/** Counts what was simulated. */
export class Tally {
	private readonly counts = new Map<string, Map<string, number>>();

	cases = 0;

	private readonly startedAtMs = performance.now();

	get seconds(): number {
		return (performance.now() - this.startedAtMs) / 1000;
	}

	add({ n8n }: Played): void {
		this.cases++;
		for (const [situation, countIn] of Object.entries(SITUATIONS)) this.count('visited', situation, countIn(n8n));
		for (const { status, mode } of n8n.executions.values())
			this.count('executions', mode === 'retry' ? `${status} (retry)` : status);
		for (const [fault, times] of n8n.service.met) this.count('faults met', fault, times);
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

	/** In words. */
	toString(): string {
		const lines = [...this.counts].map(([what, counts]) => {
			const sorted = [...counts].sort(([, one], [, other]) => other - one);
			return `  ${what}: ${sorted.map(([value, times]) => `${value} ${times.toLocaleString('en')}`).join(' · ')}`;
		});
		return [`${this.cases.toLocaleString('en')} in ${this.seconds.toFixed(0)} s`, ...lines].join('\n');
	}
}
