/** Places, turns and claims that nobody gives back any more: when everything has ended, there must be none. */
import type { AccountPlaces } from '../../../core/account/places';
import type { RowBudget } from '../../../core/account/rowBudget';
import { accounts, keysUnderWay, lastTurns } from '../../../core/processMemory';
import type { Process } from './executions.mts';
import type { N8n } from './n8n.mts';

/** Of an account that is known to have fewer places, one of these asks whether it has more. */
const PLACES = 12;
/** The rows of half a second at this pace: the last one needs that all others were given back. */
const ROWS = 5;
const PACE = { turnInMs: 0, spacingMs: 100 };

interface Account {
	places: AccountPlaces;
	rows: RowBudget;
}

/** Looks into the memory of the living processes, in a step of its own at the very end. What is found is a violation. */
export function lookForKept({ time, story, living }: N8n): void {
	for (const process of living) {
		// The memory is that of the process whose step is being taken.
		time.owner = process;
		for (const [what, { size }] of Object.entries({ keysUnderWay, lastTurns }))
			if (size > 0) story.violations.push(`${what} keeps ${size} for ever`);
		for (const account of accounts.values()) void lookAt(process, account as Account);
	}

	async function lookAt(process: Process, { places, rows }: Account): Promise<void> {
		const run = places.ofRun();
		if (places.isBusy()) story.violations.push('a task that has ended keeps its place for ever');
		places.most = PLACES;
		const request = () => ({ timeoutMs: 0, sinceMs: run.nowMs() });
		const numberOf = async <T,>(length: number, ask: () => Promise<T>) => {
			const asked = await Promise.allSettled(Array.from({ length }, async () => await ask()));
			return asked.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
		};
		const taken = await numberOf(PLACES, async () => await run.take(request()));
		for (const place of taken) place.free();
		// How many the account has may have been learned from the service. It is one at least.
		if (taken.length === 0) story.violations.push(`${process.name} keeps every place for ever`);
		// The account may be taken for full: a permit that is given at once says that it is not.
		const stopped = new AbortController();
		stopped.abort();
		const permit = await rows.take(PACE, { signal: stopped.signal });
		permit.served();
		permit.end();
		let written = 0;
		for (let row = 0; row < ROWS; row++) void rows.take(PACE).then(() => written++);
		await new Promise<void>((resolve) => time.after(0, resolve));
		if (written < ROWS) story.violations.push('a row that is gone is still counted as on its way');
	}
}
