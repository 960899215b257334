/** Survive Restarts calls n8n itself, to wake what has just fallen asleep: where it calls, what it carries, and what follows when nobody answers. */
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { realClock } from '../../nodes/connection/transport';
import { resumeUrlOf, wakeUp, whyWokenLate } from '../../nodes/durable/wakeUp';
import {
	recordCalls,
	withFetch,
	withNodesProxy,
	withProxy,
	type Answer,
	type CallRecorder,
} from '../support/calls.mts';

const SIGNATURE = 'a-secret-signature';
/** n8n has not saved the execution yet. */
const SAVING: Answer = { status: 409 };

let n8n: CallRecorder;
beforeAll(async () => {
	n8n = await recordCalls({ status: 200, body: '{"message":"Workflow was started"}' });
});
afterAll(async () => await n8n.close());
/** The pauses before the calls, of which none takes its time here. */
const pauses: number[] = [];
beforeEach(() => {
	n8n.reset();
	pauses.length = 0;
	jest.spyOn(realClock, 'sleep').mockImplementation(async (ms) => await Promise.resolve(void pauses.push(ms)));
});

/** Execution 70 wakes execution 12, which has noted this address. Returns what was logged. */
async function wake(noted: unknown, own = `${n8n.url}/n8n/webhook-waiting/70?signature=of-70`): Promise<string> {
	const logged: string[] = [];
	const context = {
		getWorkflowDataProxy: () => ({ $execution: { resumeUrl: own } }),
		logger: { warn: (line: string) => logged.push(line) },
	} as unknown as IExecuteFunctions;
	await wakeUp(context, { executionId: '12', data: [[{ json: { details: { resume_url: noted as string } } }]] });
	return logged.join('\n');
}

const address = (origin: string) => `${origin}/n8n/webhook-waiting/12?signature=${SIGNATURE}`;

test('the wake-up calls the address of the execution, and carries nothing of ours', async () => {
	expect(await wake(address(n8n.url))).toBe('');
	expect(n8n.calls.map(({ method, url }) => [method, url])).toEqual([
		['GET', `/n8n/webhook-waiting/12?signature=${SIGNATURE}`],
	]);
	expect(Object.keys(n8n.calls[0]?.headers ?? {}).sort()).toEqual([
		'accept',
		'accept-encoding',
		'accept-language',
		'connection',
		'host',
		'proxy-authorization',
		'sec-fetch-mode',
		'user-agent',
	]);
	expect(n8n.calls[0]?.headers['proxy-authorization']).toBe('None');
	expect(whyWokenLate()).toBeUndefined();
});

test.each([
	['another server', 'http://elsewhere.test/n8n/webhook-waiting/12'],
	['another path', `${'http://127.0.0.1'}/rest/executions/12/stop`],
	['another execution', 'http://127.0.0.1/n8n/webhook-waiting/99'],
])('an item that names %s changes nothing: the execution is called at its own address', async (_, noted) => {
	await wake(`${noted}?signature=${SIGNATURE}&more=yes`);
	expect(n8n.calls.map(({ url }) => url)).toEqual([`/n8n/webhook-waiting/12?signature=${SIGNATURE}`]);
});

test('an execution whose address needs no signature is called without one', async () => {
	await wake(`${n8n.url}/n8n/webhook-waiting/12?more=yes`);
	expect(n8n.calls.map(({ url }) => url)).toEqual(['/n8n/webhook-waiting/12']);
});

test.each([[undefined], [7], [''], ['no address'], ['//']])(
	'an execution that has noted %p is not called',
	async (noted) => {
		expect(await wake(noted)).toBe('');
		expect(n8n.calls).toEqual([]);
	},
);

test.each<[string, INodeExecutionData[][]]>([
	['no output', []],
	['no item', [[]]],
	['no details', [[{ json: {} }]]],
])('an execution that has put out %s is not called', async (_, data) => {
	const getWorkflowDataProxy = () => ({ $execution: { resumeUrl: address(n8n.url) } });
	await wakeUp({ getWorkflowDataProxy } as unknown as IExecuteFunctions, { executionId: '12', data });
	expect(n8n.calls).toEqual([]);
});

test('an execution of which n8n gives no address has none', async () => {
	const urlIn = (proxy: object) => resumeUrlOf({ getWorkflowDataProxy: () => proxy } as unknown as IExecuteFunctions);
	expect([urlIn({}), urlIn({ $execution: {} }), urlIn({ $execution: { resumeUrl: 'a' } })]).toEqual(['', '', 'a']);
	expect(await wake(address(n8n.url), 'no address')).toBe('');
	expect(n8n.calls).toEqual([]);
});

test('the wake-up calls again while n8n is still saving the execution', async () => {
	n8n.reset(SAVING, SAVING);
	expect(await wake(address(n8n.url))).toBe('');
	expect(n8n.calls).toHaveLength(3);
	expect(pauses).toEqual([300, 600, 1200]);
});

test('the wake-up does not call for ever, and does not blame the address for it', async () => {
	n8n.reset(...Array.from({ length: 9 }, () => SAVING));
	expect(await wake(address(n8n.url))).toMatch(/did not wake execution 12 \(HTTP 409\)/);
	expect(n8n.calls).toHaveLength(5);
	expect(whyWokenLate()).toBeUndefined();
});

test.each<[string, Answer, string]>([
	['asks for a login', { status: 401 }, 'HTTP 401'],
	['leads elsewhere', { status: 302, headers: { location: '/login' } }, 'HTTP 302'],
	['shows a page for a login', { status: 200, headers: { 'content-type': 'text/html' } }, 'the answer is not from n8n'],
	['is down', { status: 502 }, 'HTTP 502'],
])(
	'a proxy that %s gets one call, and there is advice in the log and a hint in the next run',
	async (_, answer, why) => {
		n8n.reset(answer);
		const logged = await wake(address(n8n.url));
		expect(n8n.calls).toHaveLength(1);
		expect(logged).toContain(`${n8n.url} did not wake execution 12 (${why})`);
		expect(logged).toContain('set WEBHOOK_URL');
		expect(logged).not.toContain(SIGNATURE);
		expect(whyWokenLate()).toBe(why);
		await wake(address(n8n.url));
		expect(whyWokenLate()).toBeUndefined();
	},
);

test('an answer without content wakes an execution, if it is from n8n', async () => {
	n8n.reset({ status: 204 });
	expect(await wake(address(n8n.url))).toBe('');
});

const thrown = (more: object) => async () => await Promise.reject(Object.assign(new Error('fetch failed'), more));
test.each<[string, () => Promise<Response>, string]>([
	['does not say what its answer is', async () => await Promise.resolve(new Response()), 'the answer is not from n8n'],
	['takes too long', thrown({ name: 'TimeoutError' }), 'TimeoutError'],
	['breaks the connection', thrown({ cause: { message: 'other side closed' } }), 'other side closed'],
	['ends it without a word', thrown({ name: undefined }), 'no answer'],
])('the log says so where something in front of n8n %s', async (_, answer, why) => {
	const logged = await withFetch(answer, async () => await wake(address(n8n.url)));
	expect(logged).toContain(`did not wake execution 12 (${why})`);
});

test('where nobody listens to the wake-up, there is advice in the log and a hint', async () => {
	const gone = await recordCalls({ status: 200 });
	await gone.close();
	const logged = await wake(address(gone.url), `${gone.url}/webhook-waiting/70`);
	expect(logged).toContain('ECONNREFUSED');
	expect(logged).not.toContain(SIGNATURE);
	expect(whyWokenLate()).toBe('ECONNREFUSED');
});

test('the wake-up goes through no proxy, which would see the signature', async () => {
	const proxy = await recordCalls({ status: 200 });
	await withProxy(proxy.url, async () => expect(await wake(address(n8n.url))).toBe(''));
	expect([proxy.calls.length, n8n.calls.length]).toEqual([0, 1]);
	await proxy.close();
});

test('the wake-up is not sent where Node itself would send it through a proxy: the log says what to set', async () => {
	let logged = '';
	const seen = await withNodesProxy(async () => (logged = await wake(address(n8n.url))));
	expect([seen, n8n.calls]).toEqual([[], []]);
	expect(logged).toMatch(
		/NODE_USE_ENV_PROXY would send the call through a proxy.* add the host of this n8n to NO_PROXY$/,
	);
	expect(logged).not.toContain(SIGNATURE);
	expect(whyWokenLate()).toMatch('NODE_USE_ENV_PROXY');
});
