/**
 * The answers that real gateways and what stands before them give, in a real n8n: nothing is bought twice, the key goes to the
 * service alone, and a person reads the cause. Each case has an account of its own, so that all of them run at once.
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
let selfSigned: typeof trusted;

before(async () => {
	const port = await freePort();
	const gateway = `http://127.0.0.1:${port}`;
	[proxy, trusted, selfSigned] = await Promise.all([
		startProxy(),
		secured(gateway, 'trusted'),
		secured(gateway, 'selfSigned'),
	]);
	ends.push(...[proxy, trusted, selfSigned].map(({ close }) => close));
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
const continuing = { onError: 'continueRegularOutput' };

describe('answers in a real n8n', { concurrency: 50 }, () => {
	/** Wrong answers are more than the tries of the node, and pages last longer than a refusal of a new task is ridden out. */
	const arriving: Array<[directives: string, maxTries: number, hint?: RegExp]> = [
		['poll=401html*12,403html*12,404text*12', 1], // the longest begins first
		['poll=status_error*4', 3],
		['poll=failed_other*4', 3],
		['poll=done_other*4 duration=6s', 3],
		['done_word=task_over', 1, /"task_over", which this node does not know/],
		['running_word=painting queued=0 preview=url duration=5s', 1],
	];
	for (const [directives, maxTries, hint] of arriving)
		test(`${directives}: one task is bought, and its result arrives`, async () => {
			// To download a file, the node would look for its address once more.
			const parameters = { downloadResult: false };
			const settings = retrying(maxTries);
			const made = await run([`a [[sandbox ${directives}]]`], { parameters, settings });
			assert.equal(made.status, 'success', made.said);
			assert.match(made.items[0]?.json.url, new RegExp(`/results/${made.tasks()[0]?.id}/`));
			assert.equal(posts(made.requests()), 1);
			assert.match(made.hints, hint ?? /^(?!.*does not know)/);
		});

	test('an error under an unknown word is the end of the task', async () => {
		const { said, tasks } = await run(['a [[sandbox failed_word=x fail=out_of_paint message="no paint"]]']);
		assert.match(said, new RegExp(`^The service could not finish task ${tasks()[0]?.id} .*no paint`));
		assert.match(said, /The status of the task is "x"/);
	});

	test('declined content is bought once, in all tries and retries, and they say the same', async () => {
		const settings = retrying(5);
		const { said, executionId, requests, tasks } = await run(['a [[sandbox fail=DataInspectionFailed]]'], { settings });
		assert.match(said, new RegExp(`^The service declined the content of task ${tasks()[0]?.id} `));
		for (const loadWorkflow of [false, true]) {
			const path = `/rest/executions/${executionId}/retry`;
			const { id } = await instance.rest.request('POST', path, { loadWorkflow });
			assert.equal((await ended(String(id))).said, said);
		}
		assert.equal(posts(requests()), 1);
	});

	const refused: Array<[string, Way, RegExp]> = [
		[
			'an expression that has stayed text',
			{ parameters: { prompt: '{{ $json.prompt }}' } },
			/^Prompt contains {{ … }} as text.*Switch Prompt from Fixed to Expression/,
		],
		[
			'one Purchase Key for two prompts',
			{ options: { purchaseKey: 'order 1' }, credential: { purchaseLog: true } },
			/^Items 0(–|, | and )1 have the same Purchase Key, but not the same request/,
		],
	];
	for (const [title, way, words] of refused)
		test(`${title} is refused, and nothing is sent`, async () => {
			const { said, requests } = await run(['a', 'b'], way);
			assert.match(said, words);
			assert.deepEqual(requests(), []);
		});

	test('a double click buys once, and the second execution names the first', async () => {
		const { start, requests } = await prepare(['a [[sandbox create=slow:3s!after duration=12s]]']);
		const both = await Promise.all((await Promise.all([start(), start()])).map(ended));
		const [first, second] = both[0]?.status === 'success' ? both : both.reverse();
		assert.equal(first?.status, 'success', first?.said);
		assert.ok(second?.said.includes(`already running with the same requests, in execution ${first?.executionId}`));
		assert.equal(posts(requests()), 1);
	});

	for (const place of ['gateway', 'gateway_redirect'])
		for (const surviveRestarts of [false, true])
			test(`a file with result_at=${place} is fetched with the key, at the service only (Survive Restarts: ${surviveRestarts})`, async () => {
				const { apiKey, said, items, tasks } = await run([`a [[sandbox result_at=${place}]]`], {
					options: { surviveRestarts },
				});
				const file = await instance.rest.readBinary(items[0]?.binary?.data.id);
				assert.equal(file.subarray(1, 4).toString(), 'PNG', said);
				const isOfTask = ({ path }: { path: string }) => path.includes(tasks()[0]?.id ?? '?');
				const host = (url: string) => new URL(url).host;
				const fetched = instance.sandbox.fileRequests.filter(isOfTask).map(({ headers }) => headers);
				const expected = [
					[host(instance.sandbox.baseUrl), undefined],
					[host(instance.sandbox.baseUrl), `Bearer ${apiKey}`],
					...(place === 'gateway' ? [] : [[host(instance.sandbox.filesUrl), undefined]]),
				];
				assert.deepEqual(
					fetched.map(({ host: at, authorization }) => [at, authorization]),
					expected,
				);
			});

	test('three submissions that a page answers close the gate, with both causes', async () => {
		const prompts = ['a', 'b', 'c', 'd', 'e'].map((word) => `${word} [[sandbox create=403html*all]]`);
		const { items, requests } = await run(prompts, { settings: continuing });
		assert.deepEqual(
			items.map(({ json }) => json.code),
			['service_unavailable', 'service_unavailable', 'access_blocked', 'not_submitted', 'not_submitted'],
		);
		assert.match(items[2]?.json.details, /a firewall or a bot check in front of the service.* or the API key is wrong/);
		assert.equal(posts(requests()), 3);
	});

	const wrongKey = { status: 401, body: 'Authentication failed', headers: { 'content-type': 'text/plain' } };
	test('the words of the contract for a key count in plain text, and the test of the credential says them, too', async () => {
		const none = await run(['a [[sandbox create=no_key_text]]']);
		assert.match(none.said, /^The request reached the service without an API key .*Enter the API Key/);
		const { faults, baseUrl } = instance.sandbox;
		faults.add({ on: 'create', match: { promptIncludes: 'wrong key' }, do: wrongKey });
		const wrong = await run(['wrong key']);
		assert.match(wrong.said, /^The service did not accept the API key .*The key is wrong or has expired/);
		faults.add({ on: 'balance', do: wrongKey });
		const tested = await testCredential({ baseUrl, apiKey: none.apiKey });
		assert.equal(tested.status, 'Error');
		assert.match(tested.message, /did not accept the API key.*The key is wrong or has expired/);
	});

	test('a certificate that n8n does not trust is told with the way to trust it, and nothing is sent', async () => {
		const { said, apiKey } = await run(['a'], { credential: { baseUrl: selfSigned.url } });
		const tested = await testCredential({ baseUrl: selfSigned.url, apiKey });
		for (const words of [said, tested.message])
			assert.match(words, /n8n does not trust the certificate of this host.*NODE_EXTRA_CA_CERTS/);
		assert.deepEqual(selfSigned.seen, []);
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

/** The message that n8n shows after it has tested the credential. */
async function testCredential(data: { baseUrl: string; apiKey: string }): Promise<{ status: string; message: string }> {
	const { id, name } = instance.credential;
	const credentials = { id, name, type: credentialType, data };
	return await instance.rest.request('POST', '/rest/credentials/test', { credentials });
}
