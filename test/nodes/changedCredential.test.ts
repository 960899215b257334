/** A credential that a person changes while the node is awake: it is read again when the service refuses, or cannot be reached. */
import { start } from '../support/engine.mts';
import { pause, prompts, quick, quickSandbox, runGateway, toOptions, type Sandbox } from '../support/nodes.mts';

let sandbox: Sandbox;
beforeAll(async () => {
	sandbox = await quickSandbox();
});
afterAll(async () => await sandbox.close());
beforeEach(() => sandbox.reset());

const NOBODY = 'http://127.0.0.1:9';

type Changed = { baseUrl?: string; apiKey?: string; advanced?: boolean; requestsPerSecond?: number | string };

/** Runs Generate, and changes the credential as soon as `isDue`; two seconds later once more, where there is more to change. */
async function runWhileChanged(first: Changed, isDue: () => boolean, then: Changed, later?: Changed) {
	const form = { operation: 'generate', prompt: '={{ $json.prompt }}', result: 'urlOnly', options: quick };
	const options = toOptions('image', sandbox, form, {
		items: prompts('a [[sandbox duration=4s]]'),
		mode: 'trigger',
		credential: first,
	});
	const { promise } = start(options);
	const changing = (async () => {
		while (!isDue()) await pause(10);
		const credential = options.credentials?.generationGatewayApi ?? {};
		Object.assign(credential, then);
		if (later === undefined) return;
		await pause(2_000);
		Object.assign(credential, later);
	})();
	const { data } = await promise;
	await changing;
	const task = data.resultData.runData.Node?.[0];
	return { error: task?.error?.message, items: task?.data?.main?.[0] ?? [] };
}

test('an address that is corrected while the node cannot reach it: the request is sent to the new one, once', async () => {
	const startedAtMs = Date.now();
	const { items, error } = await runWhileChanged({ baseUrl: NOBODY }, () => Date.now() > startedAtMs + 300, {
		baseUrl: sandbox.baseUrl,
	});
	expect([error, items[0]?.json.status]).toEqual([undefined, 'completed']);
	expect(sandbox.tasks).toHaveLength(1);
});

test('a key that is replaced while a task runs: the next refusal brings the new one, and the wait goes on', async () => {
	const expiresAtSeconds = Math.floor(Date.now() / 1000) + 2;
	const { key } = await createToken(expiresAtSeconds);
	const { items, error } = await runWhileChanged({ apiKey: `sk-${key}` }, () => Date.now() > expiresAtSeconds * 1000, {
		apiKey: sandbox.apiKey,
	});
	expect([error, items[0]?.json.status]).toEqual([undefined, 'completed']);
	const answered = sandbox.requests
		.filter(({ method }) => method === 'GET')
		.map(({ headers }) => headers.authorization);
	expect(answered.at(-1)).toBe(`Bearer ${sandbox.apiKey}`);
	expect(sandbox.tasks).toHaveLength(1);
});

test('a mistake that is saved beside the new key does not end the wait: the credential is read again once it is corrected', async () => {
	const expiresAtSeconds = Math.floor(Date.now() / 1000) + 2;
	const { key } = await createToken(expiresAtSeconds);
	const { items, error } = await runWhileChanged(
		{ apiKey: `sk-${key}` },
		() => Date.now() > expiresAtSeconds * 1000 - 200,
		{ apiKey: sandbox.apiKey, advanced: true, requestsPerSecond: 'many' },
		{ requestsPerSecond: 30 },
	);
	expect([error, items[0]?.json.status]).toEqual([undefined, 'completed']);
	expect(sandbox.tasks).toHaveLength(1);
});

test('a key that is replaced before a request is sent: what it was refused for is bought once', async () => {
	sandbox.faults.add({ on: 'create', do: 'slow:500ms' });
	const { items } = await runWhileChanged({ apiKey: 'sk-of-yesterday' }, () => sandbox.requests.length > 0, {
		apiKey: sandbox.apiKey,
	});
	expect(items[0]?.json.status).toBe('completed');
	const creations = sandbox.requests.filter(({ method }) => method === 'POST');
	expect(creations.map(({ headers }) => headers.authorization)).toEqual([
		'Bearer sk-of-yesterday',
		`Bearer ${sandbox.apiKey}`,
	]);
	expect(sandbox.tasks).toHaveLength(1);
});

async function createToken(expiresAtSeconds: number): Promise<{ key: string }> {
	const answer = await fetch(`${sandbox.baseUrl}/v1/tokens`, {
		method: 'POST',
		headers: { authorization: `Bearer ${sandbox.apiKey}`, 'content-type': 'application/json' },
		body: JSON.stringify({ name: 'short', unlimited_quota: true, expired_time: expiresAtSeconds }),
	});
	return ((await answer.json()) as { data: { key: string } }).data;
}

describe('an API key that an expression reads from the item', () => {
	const credential = { apiKey: '={{ $json.key }}' };
	const form = { operation: 'generate', prompt: '={{ $json.prompt }}', options: quick };
	const itemsWith = (...keys: string[]) => keys.map((key) => ({ json: { key, prompt: 'a' } }));

	test('buys with the key that all items have', async () => {
		const items = itemsWith(sandbox.apiKey, sandbox.apiKey);
		const { json } = await runGateway('image', sandbox, form, { credential, items });
		expect(json.map(({ status }) => status)).toEqual(['completed', 'completed']);
	});

	test('is refused where items have other keys: the first one would pay for all', async () => {
		const items = itemsWith(sandbox.apiKey, sandbox.apiKey, 'sk-other');
		const { error } = await runGateway('image', sandbox, form, { credential, items });
		expect(error?.message).toBe(
			'The credential has another API key, Base URL or setting for item 2 than for item 0, but all items of a run use one account',
		);
		expect(sandbox.requests).toHaveLength(0);
	});

	test.each([
		['acrossRestarts', 'Until Ready, Across Restarts'],
		['inAnotherWorkflow', 'In Another Workflow'],
	])('is refused with Wait = %s: the executions that wait have other items', async (wait, choice) => {
		const more = { wait, workflowId: { __rl: true, mode: 'id', value: 'other' } };
		const options = { credential, items: itemsWith(sandbox.apiKey) };
		const { error } = await runGateway('image', sandbox, { ...form, ...more }, options);
		expect(error?.message).toContain(`Wait cannot be ${choice} here: the credential has an expression`);
		expect(sandbox.requests).toHaveLength(0);
	});
});
