/** Across Restarts calls n8n itself, to wake what has just fallen asleep: where it calls, and what follows when n8n cannot be reached. */
import type { INodeExecutionData } from 'n8n-workflow';
import { runHandingOver } from '../support/handingOver.mts';
import { logLines } from '../support/keySecrecy.mts';
import { hurry, pause, prompts, quick, quickSandbox, type Sandbox } from '../support/nodes.mts';

const { answerFetch } = jest.requireActual<{ answerFetch: (answer: typeof fetch) => void }>('../support/fetch.cjs');

const SIGNATURE = 'a-secret-signature';
const ANSWER = { status: 200, headers: { 'content-type': 'application/json' } };

let sandbox: Sandbox;
beforeAll(async () => {
	sandbox = await quickSandbox();
});
afterAll(async () => await sandbox.close());
afterEach(() => jest.restoreAllMocks());

/** Runs of the same request at the same time would be a double click. */
let runs = 0;

/** The calls after a sub-execution (7) has fallen asleep with this address as its output, and n8n's log. */
async function wake(noted: string, ...answers: Array<() => Response>) {
	const surviving = {
		operation: 'generate',
		prompt: '={{ $json.prompt }}',
		wait: 'acrossRestarts',
		options: quick,
	};
	const { handed } = await runHandingOver(sandbox, surviving, prompts(`picture ${++runs}`));
	hurry(100);
	const before = logLines().length;
	const calls: Array<[url: string, init?: RequestInit]> = [];
	answerFetch(async (url, init) => {
		calls.push([String(url), init]);
		return await Promise.resolve((answers.shift() ?? (() => new Response('{}', ANSWER)))());
	});
	const asleep = [[{ json: { details: { resume_url: noted } } }]];
	await runHandingOver(sandbox, { operation: 'durableKeepWaiting' }, handed[0] as INodeExecutionData[], { asleep });
	for (let seen = -1; seen !== calls.length; await pause(200)) seen = calls.length;
	const logged = logLines().slice(before).join('\n');
	return { calls, urls: calls.map(([url]) => url), logged };
}

const HOME = 'http://localhost/webhook-waiting';

test.each([
	['this execution', `${HOME}/7`],
	['another execution', `${HOME}/99`],
	['another server', 'http://elsewhere.test/webhook-waiting/7'],
	['another path', 'http://localhost/rest/executions/7/stop'],
])('an execution is called at its own address in this n8n, where its output names %s', async (_, noted) => {
	const { calls, urls, logged } = await wake(`${noted}?signature=${SIGNATURE}&more=yes`);
	expect(urls).toEqual([`${HOME}/7?signature=${SIGNATURE}`]);
	// No key, no redirect, and nothing through a proxy, which would see the signature.
	expect(calls[0][1]).toMatchObject({ headers: { 'proxy-authorization': 'None' }, redirect: 'manual' });
	expect(Object.keys(calls[0][1]?.headers ?? {})).toEqual(['proxy-authorization']);
	expect(logged).toBe('');
});

test('an execution is called again while n8n is still saving it, but not for ever', async () => {
	const saving = () => new Response('', { status: 409 });
	const address = `${HOME}/7?signature=${SIGNATURE}`;
	expect((await wake(address, saving, saving)).calls).toHaveLength(3);
	jest.restoreAllMocks();
	const { calls, logged } = await wake(address, ...Array<() => Response>(9).fill(saving));
	expect(calls).toHaveLength(5);
	expect(logged).toContain('did not wake execution 7 (HTTP 409)');
});
