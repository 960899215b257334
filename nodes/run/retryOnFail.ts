import type { IExecuteFunctions } from 'n8n-workflow';
import type { HandOver } from '../../core/orders/handOver';
import type { LedgerScope } from '../../core/orders/ledger';

/** n8n's own bounds of Retry On Fail. */
const TRIES = { min: 2, max: 5, default: 3 };
const PAUSE_MS = { max: 5000, default: 1000 };

/**
 * The node's setting Retry On Fail, for orders that go on in another execution, where n8n does not play it. Undefined where it is
 * off.
 */
export function readRetryOnFail(context: IExecuteFunctions, scope: LedgerScope): HandOver['retry'] {
	const { retryOnFail = false, maxTries = TRIES.default, waitBetweenTries = PAUSE_MS.default } = context.getNode();
	if (!retryOnFail) return undefined;
	return {
		tries: Math.min(TRIES.max, Math.max(TRIES.min, Math.floor(maxTries) || TRIES.default)),
		pauseMs: Math.min(PAUSE_MS.max, Math.max(0, waitBetweenTries || 0)),
		tried: countTry(scope),
		onlyIfFirstFails: context.continueOnFail(),
	};
}

/** n8n does not tell a node which of its tries it is. But what the node remembers outlives them, and each begins here. */
function countTry({ store, executionId, runIndex }: LedgerScope): number {
	const memory = store as { tried?: { run: string; count: number } };
	const run = `${executionId} ${runIndex}`;
	const count = memory.tried?.run === run ? memory.tried.count + 1 : 1;
	memory.tried = { run, count };
	return count;
}
