/** Stop means stop: within a second, whatever a node is doing, and nothing is sent afterwards. */
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { DELIVERIES_IN_PARALLEL } from '../../core/engine/jobs';
import { withSlowdown } from '../n8n/support/slowdown.mts';
import { FieldReader } from '../../nodes/form/fieldReader';
import {
	pause,
	pngField,
	prompts,
	quickSandbox,
	startGateway,
	type Kind,
	type RunOptions,
	type Sandbox,
} from '../support/nodes.mts';
import { ProcessedData, useProcessedData } from '../support/processedData.mts';

let sandbox: Sandbox;
let record: ProcessedData;
beforeAll(async () => {
	sandbox = await quickSandbox();
});
afterAll(async () => await sandbox.close());
afterEach(() => jest.restoreAllMocks());
beforeEach(() => {
	sandbox.reset();
	record = new ProcessedData();
	useProcessedData(record);
});

/** On an idle machine: what keeps its processors busy meanwhile does not count. */
const MOST_MS = 1_000;
/** Longer than the time between two polls. */
const LATE_MS = 1_200;

/** Stops the node at this moment, and returns what it was doing, and how long it went on. */
async function stopWhen(isReached: () => boolean, kind: Kind, parameters: IDataObject, options: RunOptions = {}) {
	const { promise } = startGateway(kind, sandbox, parameters, options);
	while (!isReached()) await pause(10);
	const stoppedAtMs = performance.now();
	promise.cancel();
	const ended = promise.then((run) => ({ run, tookMs: performance.now() - stoppedAtMs }));
	const { result, slowdown } = await withSlowdown(ended);
	return { ...result, mostMs: MOST_MS * slowdown };
}

const sentTo = (path: string, method = 'POST') =>
	sandbox.requests.some((request) => request.method === method && request.path.includes(path));
const requests = () => sandbox.requests.length + sandbox.fileRequests.length;
const polled = (every: number) => ({ options: { pollIntervalSeconds: every } });
const generate = (directive: string, more: IDataObject = {}) => ({
	operation: 'generate',
	prompt: `a [[sandbox ${directive}]]`,
	result: 'file',
	...polled(1),
	...more,
});
const held = (on: 'upload' | 'token' | 'avatar' | 'balance' | 'status') => () =>
	sandbox.faults.add({ on, times: -1, do: 'slow:60s' });
const file: INodeExecutionData[] = [{ json: {}, binary: { data: pngField() } }];
const many = (count: number) => Array.from({ length: count }, (_, index) => ({ json: { id: `task_${index}` } }));
const asset = { resource: 'asset', avatarKind: 'private', ...polled(1) };
const session = { verificationId: 'rav_1', vendorToken: 'vt_1' };
const pending = { status: 200, body: { status: 'processing', verify_status: 'pending' } };

interface Moment {
	kind?: Kind;
	parameters: IDataObject;
	options?: RunOptions;
	prepare?: () => unknown;
	isReached: () => boolean;
}

const MOMENTS: Record<string, Moment> = {
	'it notes in n8n what it is about to submit': {
		parameters: generate(''),
		prepare: () => (record.delayMs = 3_000),
		isReached: () => record.calls.length > 0,
	},
	'it uploads a file': {
		parameters: generate('', { images: { image: [{ source: 'binary', binaryPropertyName: 'data' }] } }),
		options: { items: file },
		prepare: held('upload'),
		isReached: () => sentTo('/uploads/'),
	},
	'it submits': { parameters: generate('create=slow:60s'), isReached: () => sentTo('/generations') },
	'it waits before it submits again': {
		parameters: generate('create=503:30*9'),
		isReached: () => sentTo('/generations'),
	},
	'it waits between two polls': {
		parameters: generate('duration=60s', polled(30)),
		isReached: () => Number(sandbox.tasks[0]?.acceptedAt) < Date.now() - 300,
	},
	'it polls': { parameters: generate('duration=60s poll=slow:60s'), isReached: () => sentTo('/generations', 'GET') },
	'it waits for a pause that the service asks for': {
		parameters: generate('duration=60s poll=429:30*9'),
		isReached: () => sentTo('/generations', 'GET'),
	},
	'a file trickles': {
		parameters: generate('duration=0 bytes=2 bytes_per_second=20000'),
		isReached: () => sandbox.fileRequests.length > 0,
	},
	'more files wait for their turn than are downloaded': {
		parameters: generate('duration=0 bytes=2 bytes_per_second=20000'),
		options: { items: many(DELIVERIES_IN_PARALLEL + 2) },
		isReached: () => sandbox.fileRequests.length === DELIVERIES_IN_PARALLEL,
	},
	'it waits for a pause that the file host asks for': {
		parameters: generate('duration=0 file=429:30*9'),
		isReached: () => sandbox.fileRequests.length > 0,
	},
	'it reads a task': {
		parameters: { operation: 'getResult', wait: 'dontWait', result: 'urlOnly', taskId: 'a' },
		prepare: held('status'),
		isReached: () => sentTo('/generations', 'GET'),
	},
	'it creates an API key': {
		kind: 'token',
		parameters: { operation: 'create', name: 'a', quota: 'unlimited' },
		prepare: held('token'),
		isReached: () => sentTo('/tokens'),
	},
	'it reads a balance': {
		kind: 'balance',
		parameters: { operation: 'getAccountBalance' },
		prepare: held('balance'),
		isReached: () => sentTo('/balance', 'GET'),
	},
	'it uploads an asset': {
		kind: 'avatar',
		parameters: { ...asset, operation: 'upload', groupId: 'g', sourceUrl: 'https://example.com/a.png' },
		prepare: held('avatar'),
		isReached: () => sentTo('/assets'),
	},
	'it waits for a person': {
		kind: 'avatar',
		parameters: { resource: 'verification', operation: 'getResult', ...session, waitUntilVerified: true },
		prepare: () => sandbox.faults.add({ on: 'avatar', times: -1, do: pending }),
		isReached: () => sentTo('/verify-results', 'GET'),
	},
};

test.each(Object.entries(MOMENTS))(
	'a stop while %s ends the node within a second, and nothing is sent afterwards',
	async (_, { kind = 'image', parameters, options, prepare, isReached }) => {
		prepare?.();
		const settings = { retryOnFail: true, maxTries: 3, waitBetweenTries: 0, ...options?.settings };
		const { run, tookMs, mostMs } = await stopWhen(isReached, kind, parameters, { ...options, settings });
		const sent = requests();
		expect(tookMs).toBeLessThan(mostMs);
		expect(run.status).toBe('canceled');
		await pause(LATE_MS);
		expect(requests()).toBe(sent);
	},
);

test('a stop ends the preparation of thousands of items', async () => {
	const prepared = jest.spyOn(FieldReader.prototype, 'json'); // Additional Fields: once for each item
	const items = prompts(...Array.from({ length: 3_000 }, (_, index) => `picture ${index}`));
	const { run, tookMs, mostMs } = await stopWhen(
		() => prepared.mock.calls.length > 0,
		'image',
		{
			operation: 'generate',
			prompt: '={{ $json.prompt }}',
		},
		{ items },
	);
	expect(run.status).toBe('canceled');
	expect(tookMs).toBeLessThan(mostMs);
	const count = prepared.mock.calls.length;
	await pause(200);
	expect(prepared).toHaveBeenCalledTimes(count);
	expect(count).toBeLessThan(items.length);
	expect(requests()).toBe(0);
});

const slow = { operation: 'generate', prompt: '={{ $json.prompt }} [[sandbox duration=60s]]', ...polled(1) };
const idsIn = ({ data }: Awaited<ReturnType<typeof stopWhen>>['run']) =>
	(data.resultData as { metadata?: Record<string, string> }).metadata;

test.each([
	['生成图片', 'gateway_tasks_生成图片'],
	['Générer: l’image', 'gateway_tasks_Générer_l_image'],
	[`${'漢'.repeat(30)}𠮷𠮷𠮷𠮷𠮷`, `gateway_tasks_${'漢'.repeat(30)}𠮷𠮷𠮷`],
])('the ID of a stopped task stands under the name of the node, in any script: %s', async (name, key) => {
	const { run } = await stopWhen(() => sentTo('/generations', 'GET'), 'video', slow, {
		items: prompts('a'),
		settings: { name },
	});
	expect(idsIn(run)).toEqual({ [key]: sandbox.tasks[0]?.id });
});
