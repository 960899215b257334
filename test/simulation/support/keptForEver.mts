/** Places, turns and claims that nobody gives back any more: when everything has ended, there must be none. */
import type { AccountSlots } from '../../../core/account/accountSlots';
import { accounts, keysUnderWay, lastTurns, spendingRuns } from '../../../core/processMemory';
import type { Process } from './executions.mts';
import type { N8n } from './n8n.mts';

/** One more than may get ready ahead of the slots: the last one needs that all others have given up theirs. */
const READY = 11;
/** One more: where the account is known to have fewer than `READY` slots, one of these is a try whether it has more. */
const SLOTS = READY + 1;

/** Looks into the memory of the living processes, in a step of its own at the very end. What is found is a violation. */
export function lookForKept({ time, story, living }: N8n): void {
	for (const process of living) {
		// The memory is that of the process whose step is being taken.
		time.owner = process;
		for (const [what, { size }] of Object.entries({ keysUnderWay, lastTurns }))
			if (size > 0) story.violations.push(`${what} keeps ${size} for ever`);
		// Those that sleep are forgotten with the next run of the account.
		for (const run of [...spendingRuns.values()].flatMap((runs) => [...runs.values()]))
			if (run.untilMs > time.clockMs) story.violations.push('a run that has ended is said to spend credits for ever');
		for (const account of accounts.values()) void lookAt(process, account as { slots: AccountSlots });
	}

	async function lookAt(process: Process, { slots }: { slots: AccountSlots }): Promise<void> {
		const run = slots.ofRun();
		if (run.isBusy()) story.violations.push('a task that has ended keeps its slot for ever');
		slots.most = SLOTS;
		const request = () => ({ timeoutMs: 0, sinceMs: run.nowMs() });
		const numberOf = async <T,>(length: number, ask: () => Promise<T>) => {
			const asked = await Promise.allSettled(Array.from({ length }, async () => await ask()));
			return asked.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
		};
		const ready = await numberOf(READY, async () => await run.ready(request()));
		for (const leave of ready) leave();
		const taken = await numberOf(SLOTS, async () => await run.take(request()));
		for (const slot of taken) slot.free();
		// How many the account has may have been learned from the service. It is one at least.
		if (taken.length === 0) story.violations.push(`${process.name} keeps every slot for ever`);
		if (taken.length === SLOTS && ready.length < READY)
			story.violations.push('an order that is gone is still getting ready');
	}
}
