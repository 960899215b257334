/** The rows that a crash has left in the purchase log, and what docs/guides/purchase-log.md promises of a retry for each item. */
import assert from 'node:assert/strict';
import type { Execution } from '../../../tools/n8n/executions.mjs';
import { readPurchases } from '../../n8n/support/purchaseLog.mts';
import { resultsIn, tasksOf, type Batch } from './batch.mts';
import type { Target } from './target.mts';

/** An item of which the log has an ID, rows without one, or no row of a request that may have been accepted. */
interface LoggedItem {
	prompt: string;
	has: 'id' | 'row' | 'nothing';
	/** Of the tasks that the service has accepted for it. */
	ids: string[];
}

const idsOf = (target: Target, prompt: string) => tasksOf(target, { prompts: [prompt] }).map(({ id }) => id);

/** Asserts that the log has no ID but those of each item's task, and a row of everything that was bought. */
export async function readLoggedItems(target: Target, { workflowId, prompts }: Batch): Promise<LoggedItem[]> {
	const rows = (await readPurchases(target)).filter(({ run }) => run.endsWith(` ${workflowId}`));
	return prompts.map((prompt, index) => {
		const ofItem = rows.filter(({ item, state }) => item === index && state !== 'lease' && state !== 'run');
		const surelyNot = ofItem.filter(({ state }) => state === 'not_accepted').map(({ attempt }) => attempt);
		const isOpen = ofItem.some(({ attempt }) => !surelyNot.includes(attempt));
		const logged = [...new Set(ofItem.flatMap(({ task_id: id }) => id || []))];
		const ids = idsOf(target, prompt);
		if (logged.length > 0) assert.deepEqual({ prompt, ids: logged }, { prompt, ids });
		else assert.ok(ids.length === 0 || isOpen, `${prompt}: ${ids.join()} was bought without a row`);
		return { prompt, has: logged.length > 0 ? 'id' : isOpen ? 'row' : 'nothing', ids };
	});
}

/** A retry waits for the tasks whose IDs are in the table, buys what has no row, and says of the rest that the outcome is unknown. */
export function assertPromisesKept(target: Target, before: LoggedItem[], retried: Execution): void {
	const results = resultsIn(retried);
	assert.equal(results.length, before.length, `it ended with ${retried.status}: ${JSON.stringify(retried.error)}`);
	for (const [index, { prompt, has, ids }] of before.entries()) {
		const { status, task_id: id, code } = results[index]?.json ?? {};
		const bought = idsOf(target, prompt).filter((each) => !ids.includes(each));
		const [ofItem] = has === 'nothing' ? bought : ids;
		const end = has === 'row' ? { code: 'outcome_still_unknown' } : { status: 'completed', id: ofItem };
		assert.deepEqual(
			{ prompt, has, purchases: bought.length, status, id, code },
			{ prompt, has, purchases: has === 'nothing' ? 1 : 0, status: undefined, id: undefined, code: undefined, ...end },
		);
	}
}
