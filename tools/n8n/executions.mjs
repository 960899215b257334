/** Runs workflows in a real n8n over its REST API and reads what came out. */
import { setTimeout as pause } from 'node:timers/promises';
import { parse } from 'flatted';
import { ToolError } from '../report/step.mjs';

/** To be read costs n8n as much as a small execution does: the longer one takes, the less often it is read. */
const pollEveryMs = { least: 250, most: 1500, ofElapsed: 0.1 };
/** n8n writes the status of an execution first, and what came out a moment later. Those that end badly may have nothing. */
const dataWithinMs = { success: 10_000, others: 5_000 };
/** Of an execution for which no other time is given, on a busy machine. */
const longestMs = 300_000;
/** "waiting" is not final either, but a manual run that waits goes on by itself or by a click. */
const unfinished = new Set(['new', 'running', 'waiting']);

/**
 * @typedef {object} Execution
 * @property {string} id
 * @property {string} status success, error, canceled, crashed …
 * @property {Record<string, any[]>} runData the runs of each node, by the node's name
 * @property {any} [error] of the node that ended the run
 * @property {string} [lastNode]
 * @property {any} record everything that n8n answered, with `data` decoded
 */

/**
 * @param {import('./rest.mjs').RestClient} rest
 * @param {string} workflowId
 * @param {string} triggerName the node that the run starts from
 * @returns {Promise<string>} the execution's id
 */
export async function startExecution(rest, workflowId, triggerName) {
	// The editor of an older n8n sends the workflow along; a newer n8n takes the saved one.
	const workflowData = await rest.request('GET', `/rest/workflows/${workflowId}`);
	const { executionId } = await rest.request('POST', `/rest/workflows/${workflowId}/run`, {
		workflowData,
		triggerToStartFrom: { name: triggerName },
	});
	if (!executionId) throw new ToolError(`n8n did not start the workflow ${workflowId}.`);
	return String(executionId);
}

/**
 * @param {import('./rest.mjs').RestClient} rest
 * @param {string} id
 * @returns {Promise<Execution>}
 */
export async function readExecution(rest, id) {
	const record = await rest.request('GET', `/rest/executions/${id}`);
	const data = typeof record.data === 'string' ? /** @type {any} */ (parse(record.data)) : record.data; // n8n stores it in the flatted format
	const { runData = {}, error, lastNodeExecuted: lastNode } = data?.resultData ?? {};
	return { id, status: record.status, runData, error, lastNode, record: { ...record, data } };
}

/**
 * @param {import('./rest.mjs').RestClient} rest
 * @param {string} id
 * @param {{ timeoutMs?: number }} [options]
 */
export async function untilFinished(rest, id, { timeoutMs = longestMs } = {}) {
	const begunAt = Date.now();
	const deadline = begunAt + timeoutMs;
	let endedAt = 0;
	for (;;) {
		const execution = await readExecution(rest, id);
		if (!unfinished.has(execution.status)) {
			endedAt ||= Date.now();
			const withinMs = execution.status === 'success' ? dataWithinMs.success : dataWithinMs.others;
			if (execution.lastNode !== undefined || Date.now() > endedAt + withinMs) return execution;
		} else if (Date.now() > deadline) {
			throw new ToolError(`Execution ${id} is still ${execution.status} after ${timeoutMs / 1000} s.`);
		}
		const { least, most, ofElapsed } = pollEveryMs;
		await pause(Math.min(most, Math.max(least, ofElapsed * (Date.now() - begunAt))));
	}
}

/**
 * @param {import('./rest.mjs').RestClient} rest
 * @param {string} id
 */
export async function stopExecution(rest, id) {
	await rest.request('POST', `/rest/executions/${id}/stop`);
}

/**
 * The items that a node put out.
 *
 * @param {Execution} execution
 * @param {string} nodeName
 * @param {{ run?: number, output?: number }} [options]
 * @returns {Array<{ json: any, binary?: Record<string, any>, error?: any }>}
 */
export function itemsOf(execution, nodeName, { run = 0, output = 0 } = {}) {
	return execution.runData[nodeName]?.[run]?.data?.main?.[output] ?? [];
}
