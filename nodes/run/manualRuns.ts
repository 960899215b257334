import type { IExecuteFunctions } from 'n8n-workflow';
import { gatewayError, type GatewayError } from '../../core/errors';
import { steady } from '../../core/clock';
import type { OrderLedger } from '../../core/orders/ledger';
import type { Purchase } from '../../core/orders/order';
import { manualRuns } from '../../core/processMemory';
import { realClock } from '../connection/transport';
import { hashOf } from './requestHash';

/** The part of a run that tells it from others. */
interface Claiming {
	context: IExecuteFunctions;
	ledger: OrderLedger;
}

interface ManualRun {
	execution: string;
	/** The moment at which it counts as over, by a steady clock. Until then it is under way. */
	untilMs: number;
}

/** Milliseconds in which a second click follows the first: so long do runs count that go on in another execution. */
const SECOND_CLICK_MS = 5_000;

const clock = steady(realClock);

export interface ManualClaim {
	/** The error of the orders, where another execution is buying the same. */
	refusal?: GatewayError;
	/** Called when its orders go on in another execution. */
	handOver: () => void;
	/** Called when the run is over here. */
	release: () => void;
}

const NOT_CLAIMED: ManualClaim = { handOver: () => {}, release: () => {} };

/**
 * Claims the requests of a manual run in the memory of this process. A double click on Execute step starts two executions a
 * moment apart, and both would buy all items. Of the second one, Retry On Fail gets the same refusal when the first has ended.
 */
export function claimManualRun({ context, ledger }: Claiming, orders: Purchase[]): ManualClaim {
	const requests = orders.flatMap(({ state, request }) => (state === 'planned' && request ? [request.hash] : []));
	if (context.getMode() !== 'manual' || requests.length === 0) return NOT_CLAIMED;
	const { store, executionId: execution, runIndex } = ledger.scope;
	const key = hashOf('task', [context.getWorkflow().id, context.getNode().id, requests.sort()]);
	const memory = store as { secondOf?: Record<string, string> };
	const tryKey = `${execution} ${runIndex}`;
	const other = memory.secondOf?.[tryKey] ?? underWay(key, execution);
	if (other !== undefined) {
		memory.secondOf = { [tryKey]: other };
		return { ...NOT_CLAIMED, refusal: gatewayError('alreadyRunning', { execution: other }) };
	}
	const run: ManualRun = { execution, untilMs: Infinity };
	manualRuns.set(key, run);
	return {
		handOver: () => {
			run.untilMs = clock.now() + SECOND_CLICK_MS;
		},
		release: () => {
			if (run.untilMs === Infinity && manualRuns.get(key) === run) manualRuns.delete(key);
		},
	};
}

/** The other execution that is buying the same; forgets those that are over. */
function underWay(key: string, own: string): string | undefined {
	for (const [each, run] of manualRuns as Map<string, ManualRun>)
		if (run.untilMs < clock.now()) manualRuns.delete(each);
	const { execution } = (manualRuns.get(key) ?? {}) as Partial<ManualRun>;
	return execution === own ? undefined : execution;
}
