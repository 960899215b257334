import { seeded } from '../../support/simulation';
import { Draw, drawCase, type Case } from './cases.mts';
import { judge } from './judge.mts';
import { lookForKept } from './keptForEver.mts';
import { isMoment } from './moments.mts';
import { N8n } from './n8n.mts';
import { Service } from './service.mts';
import { planOf, Story } from './story.mts';
import { Time, WORLD, type Owner } from './time.mts';

export interface Played {
	/** The broken promises, in words. */
	problems: string[];
	n8n: N8n;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Longer than any timeout of a case. What still goes on then does not come to an end. */
const LONGEST_MS = 2 * DAY_MS;
const EXECUTIONS_OF_A_DAY = 1000;
/** Far more than any case has taken. */
const MOST_STEPS = 200_000;

/** Plays a case. */
export async function play(drawn: Case): Promise<Played> {
	const time = new Time(seeded(drawn.randomness));
	const story = new Story();
	const service = new Service(time, (name) => planOf(drawn, name), { slots: drawn.accountSlots, story });
	const n8n = new N8n(time, service, story, {
		workers: drawn.engine === 'one process' ? 1 : 2,
		failingRecords: drawn.failingRecords,
		tableIsFull: drawn.tableIsFull,
		purchaseLog: drawn.purchaseLog,
	});
	if (drawn.clockSetBack !== undefined) n8n.setClockBack(drawn.clockSetBack);
	const crashes = [...drawn.crashes];
	let steps = 0;
	const dieInTime = (owner: Owner) => {
		const [next] = crashes;
		// What the stop has set off is not killed in the same moment: it would go on in a dead process.
		if (drawn.stopDuring !== undefined && n8n.stopIn(drawn.stopDuring, owner)) return;
		if (next === undefined || ++steps < next.afterSteps) return;
		if (next.during !== undefined && !isMoment(next.during, n8n, owner)) return;
		steps = 0;
		crashes.shift();
		n8n.kill(owner, next.downMs);
	};
	time.beforeStep = dieInTime;
	for (let execution = 0; execution < drawn.executions; execution++) n8n.begin(drawn, `x${execution}`);
	return { problems: await problemsOf(n8n, LONGEST_MS, MOST_STEPS), n8n };
}

/** A workflow that runs a thousand times in a day, each time in other weather, while n8n is restarted now and then. */
export async function playDay(seed: number): Promise<Played> {
	const random = seeded(seed);
	const draw = new Draw(random);
	const engine = draw.from<Case['engine']>('one process', 'workers', 'workers of n8n 1');
	const cases = new Map<string, Case>();
	const time = new Time(seeded(draw.upTo(2 ** 31)));
	const story = new Story();
	const planOfName = (name: string) => {
		const drawn = cases.get(name.split('-')[0]);
		return drawn && planOf(drawn, name);
	};
	const service = new Service(time, planOfName, { story });
	const n8n = new N8n(time, service, story, { workers: engine === 'one process' ? 1 : 2 });
	for (let index = 0; index < EXECUTIONS_OF_A_DAY; index++) {
		const drawn: Case = { ...drawCaseFor(engine, random), executions: 1, engine, purchaseKey: undefined };
		const name = `x${index}`;
		cases.set(name, drawn);
		time.after(random() * DAY_MS, () => n8n.begin(drawn, name), WORLD);
	}
	for (let restart = draw.from(3, 8, 24, 100); restart > 0; restart--)
		time.after(random() * DAY_MS, () => n8n.kill(n8n.livingProcess(), draw.from(1000, 20_000, 100_000)), WORLD);
	return { problems: await problemsOf(n8n, DAY_MS + LONGEST_MS, EXECUTIONS_OF_A_DAY * MOST_STEPS), n8n };
}

/** Lets the time pass. What is fetched is n8n itself: all else goes through n8n's helpers. */
async function problemsOf(n8n: N8n, ms: number, mostSteps: number): Promise<string[]> {
	const { time } = n8n;
	const { fetch } = globalThis;
	globalThis.fetch = async (address) => await n8n.subs.call(address as URL);
	try {
		time.after(ms, () => lookForKept(n8n), WORLD);
		await time.run(time.nowMs + ms, mostSteps);
		return judge(n8n);
	} catch (thrown) {
		return [String(thrown)];
	} finally {
		globalThis.fetch = fetch;
	}
}

/** n8n 1 has no Survive Restarts. */
function drawCaseFor(engine: Case['engine'], random: () => number): Case {
	for (;;) {
		const drawn = drawCase(random);
		if (engine !== 'workers of n8n 1' || !drawn.surviveRestarts) return drawn;
	}
}
