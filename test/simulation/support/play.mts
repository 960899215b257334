import { seeded } from '../../support/simulation';
import type { Case } from './cases.mts';
import { judge } from './judge.mts';
import { lookForKept } from './keptForEver.mts';
import { isMoment } from './moments.mts';
import { N8n } from './n8n.mts';
import { Service } from './service.mts';
import { planOf, Story } from './story.mts';
import type { Process } from './executions.mts';
import { Time, WORLD, type Owner } from './time.mts';

export interface Played {
	/** The broken promises, in words. */
	problems: string[];
	n8n: N8n;
}

/** Two days, longer than any timeout of a case. What still goes on then does not come to an end. */
const LONGEST_MS = 172_800_000;
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
		table: drawn.table,
	});
	if (drawn.clockSetBack !== undefined) n8n.setClockBack(drawn.clockSetBack);
	const crashes = [...drawn.crashes];
	let steps = 0;
	const dieInTime = (owner: Owner) => {
		const [next] = crashes;
		// What the stop has set off is not killed in the same moment: it would go on in a dead process.
		if (drawn.stopDuring !== undefined && n8n.stopIn(drawn.stopDuring, owner)) return;
		// n8n has something else in its place.
		if ((owner as Process).isTakenForDead) return;
		if (next === undefined || ++steps < next.afterSteps) return;
		if (next.during !== undefined && !isMoment(next.during, n8n, owner)) return;
		steps = 0;
		crashes.shift();
		const { downMs, silentMs: forMs, isUnnoticed } = next;
		if (forMs === undefined) n8n.kill(owner, downMs);
		else n8n.silence(owner, { forMs, noticedInMs: isUnnoticed ? undefined : downMs });
	};
	time.beforeStep = dieInTime;
	for (let execution = 0; execution < drawn.executions; execution++) n8n.begin(drawn, `x${execution}`);
	return { problems: await problemsOf(n8n), n8n };
}

/** Lets the time pass. What is fetched is n8n itself: all else goes through n8n's helpers. */
async function problemsOf(n8n: N8n): Promise<string[]> {
	const { time } = n8n;
	const { fetch } = globalThis;
	globalThis.fetch = async (address) => await n8n.subs.call(address as URL);
	try {
		time.after(LONGEST_MS, () => lookForKept(n8n), WORLD);
		await time.run(time.nowMs + LONGEST_MS, MOST_STEPS);
		return judge(n8n);
	} catch (thrown) {
		return [String(thrown)];
	} finally {
		globalThis.fetch = fetch;
	}
}
