/**
 * What real gateways answer, and what stands before them, in a real n8n with proxies and a certificate of its own: one case of
 * each kind, the others are in test/nodes (believedAnswers, network). Each has an account of its own, so that all run at once.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { credentialType } from '../../tools/n8n/examples.mjs';
import { itemsOf, startExecution, untilFinished } from '../../tools/n8n/executions.mjs';
import { freePort } from '../../tools/processes/freePort.mjs';
import { secured, startProxy } from '../support/network.mts';
import { startInstance, type Instance } from './support/instance.mts';
import { createWorkflow, packageType } from './support/workflow.mts';

const apiKeys = Array.from({ length: 50 }, (_, index) => `key-of-case-${index}`);
const unused = [...apiKeys];
const folder = mkdtempSync(join(tmpdir(), 'answers-'));
/** Ends what was begun, the last first. */
const ends: Array<() => unknown> = [() => rmSync(folder, { recursive: true })];

let instance: Instance;
let proxy: Awaited<ReturnType<typeof startProxy>>;
let trusted: Awaited<ReturnType<typeof secured>>;

before(async () => {
	const port = await freePort();
	const gateway = `http://127.0.0.1:${port}`;
	[proxy, trusted] = await Promise.all([startProxy(), secured(gateway, 'trusted')]);
	ends.push(proxy.close, trusted.close);
	const ca = join(folder, 'ca.pem');
	writeFileSync(ca, trusted.ca);
	// All that listens here has two names: only requests to `localhost` go through the proxy.
	const proxies = { HTTP_PROXY: proxy.url, HTTPS_PROXY: proxy.url, NO_PROXY: '127.0.0.1' };
	const lower = Object.fromEntries(Object.entries(proxies).map(([name, value]) => [name.toLowerCase(), value]));
	const env = { NODE_EXTRA_CA_CERTS: ca, ...proxies, ...lower };
	instance = await startInstance({ sandbox: { port, apiKeys: ['sandbox-key', ...apiKeys], imageTaskMs: 400 }, env });
	ends.push(instance.close);
});
after(async () => {
	for (const end of ends.reverse()) await end();
});

interface Way {
	/** Of the credential. */
	credential?: Record<string, unknown>;
	settings?: Record<string, unknown>;
	parameters?: Record<string, unknown>;
	options?: Record<string, unknown>;
}

/** A workflow that generates an image of each prompt with an account of its own. */
async function prepare(prompts: string[], { credential = {}, settings, parameters, options }: Way = {}) {
	const { rest, sandbox } = instance;
	const apiKey = unused.pop() ?? '';
	const data = { baseUrl: sandbox.baseUrl, apiKey, ...credential };
	const { id, name } = await rest.request('POST', '/rest/credentials', { name: apiKey, type: credentialType, data });
	const node = {
		name: 'Generate',
		type: packageType('imageGeneration'),
		parameters: {
			prompt: '={{ $json.prompt }}',
			...parameters,
			options: { pollIntervalSeconds: 1, concurrentTasks: 1, ...options },
		},
		...settings,
	};
	const items = prompts.map((prompt) => ({ prompt }));
	const workflowId = await createWorkflow({ rest, credential: { id: String(id), name, data } }, items, [node]);
	const user = sandbox.users.find(({ key }) => key === apiKey);
	return {
		apiKey,
		start: async () => await startExecution(rest, workflowId, 'Start'),
		requests: () => sandbox.requests.filter(({ headers }) => headers.authorization === `Bearer ${apiKey}`),
		tasks: () => sandbox.tasks.filter(({ userId }) => userId === user?.id),
	};
}

async function ended(executionId: string) {
	const execution = await untilFinished(instance.rest, executionId);
	const { error = {}, status } = execution;
	const hints: Array<{ message: string }> = execution.runData.Generate?.at(-1)?.hints ?? [];
	return {
		executionId,
		status,
		said: `${error.message ?? ''} | ${error.description ?? ''}`,
		items: itemsOf(execution, 'Generate'),
		hints: hints.map(({ message }) => message).join(' '),
	};
}

async function run(prompts: string[], way?: Way) {
	const workflow = await prepare(prompts, way);
	return { ...workflow, ...(await ended(await workflow.start())) };
}

const posts = (requests: Array<{ method: string }>) => requests.filter(({ method }) => method === 'POST').length;
const retrying = (maxTries: number) => ({ retryOnFail: maxTries > 1, maxTries, waitBetweenTries: 100 });

describe('answers in a real n8n', { concurrency: 50 }, () => {
	/** Wrong answers are more than the tries of the node, and pages last longer than a refusal of a new task is ridden out. */
	const arriving: Array<[directives: string, maxTries: number, hint?: RegExp]> = [
		['poll=401html*12,403html*12,404text*12', 1], // the longest begins first
		['poll=status_error*4', 3],
		['done_word=task_over', 1, /"task_over", which this node does not know/],
	];
	for (const [directives, maxTries, hint] of arriving)
		test(`${directives}: one task is bought, and its result arrives`, async () => {
			// To download a file, the node would look for its address once more.
			const parameters = { result: 'urlOnly' };
			const settings = retrying(maxTries);
			const made = await run([`a [[sandbox ${directives}]]`], { parameters, settings });
			assert.equal(made.status, 'success', made.said);
			assert.match(made.items[0]?.json.url, new RegExp(`/results/${made.tasks()[0]?.id}/`));
			assert.equal(posts(made.requests()), 1);
			assert.match(made.hints, hint ?? /^(?!.*does not know)/);
		});

	test('a double click buys once, and the second execution names the first', async () => {
		const { start, requests } = await prepare(['a [[sandbox create=slow:3s!after duration=12s]]']);
		const both = await Promise.all((await Promise.all([start(), start()])).map(ended));
		const [first, second] = both[0]?.status === 'success' ? both : both.reverse();
		assert.equal(first?.status, 'success', first?.said);
		assert.ok(second?.said.includes(`already running with the same requests, in execution ${first?.executionId}`));
		assert.equal(posts(requests()), 1);
	});

	for (const wait of ['untilReady', 'acrossRestarts'])
		test(`a file at the service, which leads to another host, is fetched with the key at the service only (Wait: ${wait})`, async () => {
			const { apiKey, said, items, tasks } = await run(['a [[sandbox result_at=gateway_redirect]]'], {
				parameters: { wait },
			});
			const file = await instance.rest.readBinary(items[0]?.binary?.data.id);
			assert.equal(file.subarray(1, 4).toString(), 'PNG', said);
			const { baseUrl, filesUrl, fileRequests } = instance.sandbox;
			const fetched = fileRequests.filter(({ path }) => path.includes(tasks()[0]?.id ?? '?'));
			assert.deepEqual(
				fetched.map(({ headers: { host, authorization } }) => [host, authorization]),
				[
					[new URL(baseUrl).host, undefined],
					[new URL(baseUrl).host, `Bearer ${apiKey}`],
					[new URL(filesUrl).host, undefined],
				],
			);
		});

	const at = (url: string) => url.replace('127.0.0.1', 'localhost');
	const CREATE = '/v1/images/generations';
	const ways: Array<[string, () => string, (seen: string[]) => boolean]> = [
		[
			'http',
			() => at(instance.sandbox.baseUrl),
			(seen) => seen.includes(`POST ${at(instance.sandbox.baseUrl)}${CREATE}`),
		],
		['https', () => at(trusted.url), (seen) => seen.includes(`CONNECT ${at(trusted.url).slice(8)}`)],
		['https without the proxy', () => trusted.url, (seen) => !seen.join().includes(trusted.url.slice(8))],
	];
	for (const [title, baseUrl, isTaken] of ways)
		test(`with NODE_EXTRA_CA_CERTS, HTTP_PROXY, HTTPS_PROXY and NO_PROXY: ${title}`, async () => {
			const { status, said, items } = await run(['a'], { credential: { baseUrl: baseUrl() } });
			assert.equal(status, 'success', said);
			assert.equal(items[0]?.binary?.data.mimeType, 'image/png');
			assert.ok(isTaken(proxy.seen), proxy.seen.join('\n'));
		});
});

test('NO_PROXY exempts the host of all the other cases', () => {
	assert.deepEqual(
		proxy.seen.filter((line) => line.includes('127.0.0.1')),
		[],
	);
});
