import type { IExecuteFunctions } from 'n8n-workflow';
import type { TaskLedger } from '../../core/orders/ledger';
import { readSettings } from '../connection/settings';
import { CREDENTIAL } from '../connection/transport';
import { NEEDED_NODES } from '../purchaseLog/dataTable';
import { PurchaseLog } from '../purchaseLog/purchaseLog';
import { HINTS } from './hints';
import { openWriteAhead } from './writeAheadStore';

/** The purchase log of a run; undefined where the credential does not ask for one. */
export async function openPurchaseLog(
	context: IExecuteFunctions,
	ledger: TaskLedger,
	hints: Set<string>,
): Promise<PurchaseLog | undefined> {
	const credential = await context.getCredentials(CREDENTIAL);
	if (credential.purchaseLog !== true) return undefined;
	const { scope, store } = openWriteAhead(context, ledger);
	const { id = '', name: workflow = '' } = context.getWorkflow();
	const { id: nodeId, name: node, credentials } = context.getNode();
	const run = `${scope.execution}, run ${scope.runIndex}`;
	const gap = [`generation-gateway ${run}, without rows`];
	return new PurchaseLog(context, {
		columns: {
			...{ workflow, workflow_id: String(id), node, node_id: nodeId },
			...{ execution: scope.executionId, run, retry: scope.isRetry },
			...{ account: credentials?.[CREDENTIAL]?.id ?? '', base_url: readSettings(credential).baseUrl },
		},
		obstacle: obstacle(context, scope.isLasting),
		rememberGap: async () => {
			await store?.record(gap).catch(() => {}); // as without a log: a crash is not guarded then
		},
		hasGap: async () => {
			const found = (await store?.record(gap)) ?? [];
			if (found.length === 0) await store?.remove(gap);
			return found.length > 0;
		},
		tell: (why) => hints.add(HINTS.notInPurchaseLog({ why })),
	});
}

function obstacle(context: IExecuteFunctions, isLasting: boolean): string | undefined {
	if (!context.getWorkflow().id) return 'the workflow has not been saved';
	if (!isLasting) return 'this n8n is too old';
	const known = context.getKnownNodeTypes();
	const [, missing] = Object.entries(NEEDED_NODES).find(([type]) => known[type] === undefined) ?? [];
	return missing === undefined ? undefined : `this n8n does not have the node "${missing}"`;
}
