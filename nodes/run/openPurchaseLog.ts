import type { IExecuteFunctions } from 'n8n-workflow';
import { createHash } from 'crypto';
import type { OrderLedger } from '../../core/orders/ledger';
import type { Batch } from '../../core/orders/batch';
import { nameRun } from '../../core/orders/runs';
import type { WriteAheadScope, WriteAheadStore } from '../../core/orders/writeAheadLog';
import type { LogPorts } from '../../core/purchases/purchaseTable';
import { PurchaseLog } from '../../core/purchases/purchaseLog';
import type { RunColumns } from '../../core/purchases/purchaseRow';
import { hasPurchaseLog, readSettings } from '../connection/settings';
import { CREDENTIAL, realClock } from '../connection/transport';
import { NEEDED_NODES } from '../purchaseLog/dataTableNode';
import { mayLackOldRows } from '../purchaseLog/cleanUp';
import { N8nPurchaseTable } from '../purchaseLog/purchaseTable';
import { forgetTable } from '../purchaseLog/table';
import { isInEngine2 } from './engine2';
import { HINTS } from './hints';
import { openWriteAhead, recordOf } from './writeAheadStore';

/** The longest time that a question for a gap takes: n8n can be asked for a name only by writing it. */
const QUESTION_MS = 1_000;

export const LOG_IS_OFF = 'Purchase Log is turned off';

/**
 * The purchase log of a run; undefined where the credential does not ask for one. A retry has one all the same, which only
 * remembers that something was bought without a row: otherwise the next one, with the log, would go by older rows.
 */
export async function openPurchaseLog(
	context: IExecuteFunctions,
	ledger: OrderLedger,
	hints: Set<string>,
): Promise<PurchaseLog | undefined> {
	const credential = await context.getCredentials(CREDENTIAL);
	const isOff = !hasPurchaseLog(credential);
	const { scope, store } = openWriteAhead(context, ledger);
	if (isOff && !scope.isRetry) return undefined;
	const { id = '', name: workflow = '' } = context.getWorkflow();
	const { id: nodeId, name: node, credentials } = context.getNode();
	const origin = `${scope.execution}, run ${scope.runIndex}`;
	const run = nameRun(scope.executionId, scope.runIndex);
	const columns = {
		...{ workflow, workflow_id: String(id), node, node_id: nodeId },
		...{ execution: scope.executionId, run, origin, retry: scope.isRetry },
		...{ account: credentials?.[CREDENTIAL]?.id ?? '', base_url: readSettings(credential).baseUrl },
	};
	return open(context, columns, {
		obstacle: isOff ? LOG_IS_OFF : obstacle(context, scope),
		...gapIn(store, `generation-gateway ${origin}`),
		...(mayLackOldRows(context.getExecutionContext?.()?.establishedAt ?? 0) && {
			hasGap: async () => await Promise.resolve(true),
		}),
		tell: (why) => {
			if (!isOff) hints.add(HINTS.notInPurchaseLog({ why }));
		},
	});
}

/**
 * The log of a run that goes on in the execution of `context`. That it does was remembered as a gap before; it has one of its
 * own, for whoever takes the orders over.
 */
export function continuePurchaseLog(context: IExecuteFunctions, batch: Batch): PurchaseLog | undefined {
	const { name, log, lastSeenRow } = batch;
	if (log === undefined) return undefined;
	// Another process may have found a table that somebody has renamed since: all rows after a crash are to be in one.
	forgetTable(context);
	return open(context, log, {
		lastSeenRow,
		...gapIn(recordOf(context), `${name}, handed over`),
		tell: (why) => context.logger.warn(`Generation Gateway: rows are missing in the purchase log (${why})`),
	});
}

/** A name in n8n's table of processed data, which says that rows are missing. */
function gapIn(store: WriteAheadStore | undefined, name: string): Pick<LogPorts, 'rememberGap' | 'hasGap'> {
	const gap = [`${name}, without rows`];
	const record = async () => (await store?.record(gap)) ?? [];
	const recordAgain = async () => {
		await realClock.sleep(QUESTION_MS);
		await record();
	};
	return {
		rememberGap: async () => {
			const found = await record();
			// It may be the question of another retry, which takes it back in a moment. Nobody waits for that.
			if (found.length > 0) void recordAgain().catch(() => {});
		},
		hasGap: async () => {
			const found = await record();
			if (found.length === 0) await store?.remove(gap);
			return found.length > 0;
		},
	};
}

function open(
	context: IExecuteFunctions,
	columns: RunColumns,
	ports: Pick<LogPorts, 'obstacle' | 'lastSeenRow' | 'rememberGap' | 'hasGap' | 'tell'>,
): PurchaseLog {
	const table = new N8nPurchaseTable(context, ports.tell);
	return new PurchaseLog({ ...ports, columns, table, clock: realClock, executionId: context.getExecutionId() });
}

/** The hash by which a Purchase Key is found: the same for all nodes of a project with this account. */
export function hashOfKey(key: string, { account, base_url: baseUrl }: RunColumns): string {
	return createHash('sha256')
		.update(JSON.stringify(['Purchase Key', account, baseUrl, key]))
		.digest('base64')
		.slice(0, 22);
}

function obstacle(context: IExecuteFunctions, { isLasting }: Pick<WriteAheadScope, 'isLasting'>): string | undefined {
	if (!context.getWorkflow().id) return 'the workflow has not been saved';
	if (!isLasting) return 'this n8n is too old';
	if (isInEngine2(context)) return 'it is not possible in n8n’s engine 2.0';
	const known = context.getKnownNodeTypes();
	const [, missing] = Object.entries(NEEDED_NODES).find(([type]) => known[type] === undefined) ?? [];
	return missing === undefined ? undefined : `this n8n does not have the node "${missing}"`;
}
