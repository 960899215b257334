/** Workflows as they run in production: active, started by their triggers. */
import { readFileSync } from 'node:fs';
import { readExecution } from '../../../tools/n8n/executions.mjs';
import { onThisMachine, readExamples, withCredential, type Workflow } from '../../../tools/n8n/examples.mjs';
import type { Joined } from './shared.mts';
import { until } from './until.mts';
import type { Signed } from './workflow.mts';

export function readExample(file: string): Workflow {
	const example = readExamples().find((candidate) => candidate.file === file);
	if (!example) throw new Error(`There is no example ${file}`);
	return example.workflow;
}

/** The example as `npm start` imports it: it posts to the inbox of the sandbox, and stores files in the folder of this n8n. */
export const exampleFor = ({ n8n, sandbox }: Pick<Joined, 'n8n' | 'sandbox'>, file: string): Workflow =>
	onThisMachine(readExample(file), { baseUrl: sandbox.baseUrl, userFolder: n8n.userFolder });

/** The bodies of what was posted to this path of the inbox, oldest first. */
export const posted = ({ sandbox }: Pick<Joined, 'sandbox'>, path: string) =>
	sandbox.inbox.flatMap(({ to, body }) => (to === path ? [body as Record<string, string>] : [])).reverse();

/** A file that a workflow has stored: its beginning says which kind it is. */
export function kindOfFile(path: string): string {
	const file = readFileSync(path);
	if (file.subarray(0, 8).toString('hex') === '89504e470d0a1a0a') return 'png';
	return file.subarray(4, 8).toString('latin1') === 'ftyp' ? 'mp4' : 'unknown';
}

/** Saves the workflow in n8n, with the credential in the nodes of the package. Returns its id. */
export async function saveWorkflow({ rest, credential }: Signed, workflow: Workflow): Promise<string> {
	const { id } = await rest.request('POST', '/rest/workflows', withCredential(workflow, credential));
	return String(id);
}

/** Makes the workflow active and waits until its triggers are. Throws what n8n shows when one of them is not. */
export async function activate(signed: Pick<Signed, 'rest'>, workflowId: string): Promise<void> {
	const { rest } = signed;
	const { versionId } = await rest.request('GET', `/rest/workflows/${workflowId}`);
	await rest.request('POST', `/rest/workflows/${workflowId}/activate`, { versionId, name: '', description: '' });
	await untilActive(signed, workflowId);
}

/** n8n answers that a workflow is published before its triggers are active. */
export async function untilActive({ rest }: Pick<Signed, 'rest'>, workflowId: string): Promise<void> {
	let answer: { status: string; triggers: Array<{ errorMessage: string | null }> } | undefined;
	await until('the triggers are active', async () => {
		answer = await rest.request('GET', `/rest/workflows/${workflowId}/publication-status`);
		// n8n forgets that it is at work a moment before it writes what came of it.
		return answer !== undefined && !['in_progress', 'not_published'].includes(answer.status);
	});
	if (answer?.status !== 'published')
		throw new Error(`${answer?.status}: ${answer?.triggers.map(({ errorMessage }) => errorMessage).join(' ')}`);
}

export async function deactivate({ rest }: Pick<Signed, 'rest'>, workflowId: string): Promise<void> {
	await rest.request('POST', `/rest/workflows/${workflowId}/deactivate`, {});
}

/** A schedule that runs nothing during a test. */
export const LEAP_DAYS = { interval: [{ field: 'cronExpression', expression: '0 0 29 2 *' }] };

/** As n8n lists an execution. */
export interface Listed {
	id: string;
	workflowId: string;
	status: string;
	/** `trigger`, `webhook`, `retry`, `integrated` … */
	mode: string;
	createdAt: string;
	/** Of a retry: the execution that it retries. */
	retryOf: string | null;
}

/** The executions of a workflow, oldest first. */
export async function listExecutions(signed: Pick<Signed, 'rest'>, workflowId: string): Promise<Listed[]> {
	return await findExecutions(signed, { workflowId });
}

/** The workflows of which an execution sleeps in the database: not only its sub-execution, which n8n saves first. */
export async function asleepWorkflows(signed: Pick<Signed, 'rest'>): Promise<string[]> {
	const asleep = await findExecutions(signed, { status: ['waiting'] });
	return asleep.flatMap(({ mode, workflowId }) => (mode === 'integrated' ? [] : [workflowId]));
}

/** The executions of all workflows that have not ended: they run, sleep, or are to begin. */
export async function openExecutions(signed: Pick<Signed, 'rest'>): Promise<Listed[]> {
	return await findExecutions(signed, { status: ['new', 'running', 'waiting'] });
}

/** As n8n's list of executions filters them. Oldest first. */
async function findExecutions(
	{ rest }: Pick<Signed, 'rest'>,
	by: { workflowId: string } | { status: string[] },
): Promise<Listed[]> {
	const filter = encodeURIComponent(JSON.stringify(by));
	const found = new Map<string, Listed>();
	let cursor: string | undefined = '';
	while (cursor !== undefined) {
		const page: { results: Listed[]; nextCursor?: string } = await rest.request(
			'GET',
			`/rest/executions?limit=100&filter=${filter}${cursor && `&cursor=${cursor}`}`,
		);
		// Those that run are on each page.
		for (const each of page.results) found.set(each.id, each);
		cursor = page.nextCursor ?? undefined;
	}
	return [...found.values()].sort((a, b) => Number(a.id) - Number(b.id));
}

/** Their ids. */
export async function executionsOf(signed: Pick<Signed, 'rest'>, workflowId: string): Promise<string[]> {
	return (await listExecutions(signed, workflowId)).map(({ id }) => String(id));
}

/** Waits until the workflow has at least so many executions and none of them runs. */
export async function untilExecuted(instance: Pick<Signed, 'rest'>, workflowId: string, count: number) {
	const read = async () =>
		await Promise.all((await executionsOf(instance, workflowId)).map((id) => readExecution(instance.rest, id)));
	await until(`workflow ${workflowId} has ended ${count} executions`, async () => {
		const executions = await read();
		return executions.length >= count && executions.every(({ status }) => !['new', 'running'].includes(status));
	});
	return await read();
}
