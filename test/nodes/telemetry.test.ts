/**
 * The traces of a run for others than its user: the operator of the service, n8n where it polls triggers, and its
 * tracing.
 */
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { GatewayError, type GatewayErrorKind } from '../../core/errors';
import { failureOf } from '../../nodes/errors/toNodeError';
import { version } from '../../package.json';
import { runTool } from '../support/agent.mts';
import { startHandingOver } from '../support/handingOver.mts';
import { pngField, prompts, quick, quickSandbox, runGateway, type Sandbox } from '../support/nodes.mts';
import { poll } from '../support/triggers.mts';

let sandbox: Sandbox;
beforeAll(async () => {
	sandbox = await quickSandbox();
});
afterAll(async () => await sandbox.close());
beforeEach(() => sandbox.reset());

describe('the client names itself', () => {
	const agents = (requests: Sandbox['requests']) => [...new Set(requests.map(({ headers }) => headers['user-agent']))];

	test('the client names itself to the service, in every request, and never to the hosts of files', async () => {
		const parameters = {
			prompt: '={{ $json.prompt }}',
			images: { image: [{ source: 'binary', binaryPropertyName: 'photo' }] },
			options: quick,
		};
		const { error, items } = await runGateway('image', sandbox, parameters, {
			items: [{ json: { prompt: 'a' }, binary: { photo: pngField() } }],
		});
		expect(error).toBeUndefined();
		expect(items[0].binary).toBeDefined();
		expect(sandbox.requests.map(({ method, path }) => `${method} ${path.split('/')[2]}`)).toEqual(
			expect.arrayContaining(['POST uploads', 'POST images', 'GET images']),
		);
		expect(agents(sandbox.requests)).toEqual([`n8n-nodes-generation-gateway/${version}`]);
		expect(sandbox.fileRequests.length).toBeGreaterThan(0);
		expect(agents(sandbox.fileRequests).join()).not.toContain('gateway');
	});
});

describe('the failure that n8n reads of an error', () => {
	/** Of all others nobody has to act. */
	const CAUSES: Partial<Record<GatewayErrorKind, string>> = {
		badInput: 'configuration-invalid',
		authentication: 'credential-invalid',
		balance: 'quota-exhausted',
		permission: 'configuration-invalid',
		notFound: 'configuration-invalid',
		rejected: 'configuration-invalid',
		rateLimited: 'rate-limited',
		unavailable: 'temporarily-unavailable',
		unreachable: 'temporarily-unavailable',
		taskFailed: undefined,
		ownMistake: 'node-defect',
	};

	test.each(Object.entries(CAUSES))('n8n reads the failure of the kind %s as %s', (kind, cause) => {
		expect(failureOf(new GatewayError(kind as GatewayErrorKind, 'x'))?.cause).toBe(cause);
	});

	test.each([
		['401', { cause: 'credential-invalid' }],
		['429:120', { cause: 'rate-limited', retryAfterMs: 120_000 }],
		['503:90', { cause: 'temporarily-unavailable', retryAfterMs: 90_000 }],
	])('a poll that is answered with %s says why', async (fault, failure) => {
		sandbox.faults.add({ on: 'balance', times: -1, do: fault });
		await expect(poll('balanceTrigger', sandbox, { threshold: 1000, unit: 'credits' })).rejects.toMatchObject({
			failure,
		});
	});
});

describe('the attributes of the node’s span', () => {
	const tracing = ({ task }: Awaited<ReturnType<typeof runGateway>>) => task?.metadata?.tracing;

	test('the node’s span says which tasks and models, how long, and how many requests; neither prompt nor key', async () => {
		const begunAtMs = Date.now();
		const run = await runGateway(
			'image',
			sandbox,
			{ prompt: '={{ $json.prompt }}', options: quick },
			{ items: prompts('secret castle', 'secret bridge') },
		);
		const tookSeconds = (Date.now() - begunAtMs) / 1000;
		const [first, second] = sandbox.tasks.map(({ id }) => id);
		const { 'gateway.ids': ids, ...others } = tracing(run) ?? {};
		expect(String(ids).split(', ').sort()).toEqual([first, second].sort());
		expect(others).toEqual({
			'gateway.models': 'gamma-image-2',
			'gateway.waited_seconds': expect.any(Number),
			'gateway.requests': sandbox.requests.length,
		});
		const waitedSeconds = Number(others['gateway.waited_seconds']);
		expect(waitedSeconds).toBeGreaterThan(0);
		// Rounded to a tenth.
		expect(waitedSeconds).toBeLessThan(tookSeconds + 0.1);
		expect(JSON.stringify(run.task?.metadata)).not.toMatch(new RegExp(`secret|${sandbox.apiKey}`));
	});

	test('Get Result names the model of the record; what is no ID is left out', async () => {
		const bought = await runGateway('image', sandbox, { prompt: 'a', wait: 'dontWait' });
		const parameters = { taskId: '={{ $json.task_id }}', result: 'urlOnly', options: quick };
		for (const wait of ['untilReady', 'dontWait']) {
			const form = { operation: 'getResult', wait, ...parameters };
			const run = await runGateway('image', sandbox, form, { items: bought.items });
			expect(tracing(run)).toMatchObject({ 'gateway.ids': sandbox.tasks[0].id, 'gateway.models': 'gamma-image-2' });
		}
		const wrong = await runGateway(
			'image',
			sandbox,
			{ operation: 'getResult', wait: 'dontWait', ...parameters },
			{ items: [{ json: { task_id: 'a secret castle in the rain' } }] },
		);
		expect(wrong.error).toBeDefined();
		expect(tracing(wrong)).toEqual({ 'gateway.requests': 1 });
	});

	test('a poller that waits across restarts has a span of its own, with the tasks that it submits', async () => {
		const handed: INodeExecutionData[][] = [];
		const begin = async (parameters: IDataObject, items: INodeExecutionData[] = []) => {
			const { promise } = startHandingOver(sandbox, parameters, { mode: 'trigger', items }, async (_, __, given) => {
				handed.push(given.inputData ?? []);
				return await Promise.resolve({ executionId: '7', data: [null], waitTill: new Date(4e12) });
			});
			return (await promise).data.resultData.runData.Node?.at(-1)?.metadata?.tracing;
		};
		const form = { operation: 'generate', prompt: '={{ $json.prompt }}', wait: 'acrossRestarts', options: quick };
		await begin(form, prompts('a', 'b'));
		expect(await begin({ operation: 'durablePollTasks' }, handed[0])).toMatchObject({
			'gateway.ids': sandbox.tasks.map(({ id }) => id).join(', '),
			'gateway.models': 'gamma-image-2',
			'gateway.requests': expect.any(Number) as number,
			'gateway.waited_seconds': expect.any(Number) as number,
		});
		expect(sandbox.tasks).toHaveLength(2);
	});

	test('what the user traces stays, and a tool call leaves the span of its agent alone', async () => {
		const settings = { customTelemetryTags: { tag: [{ key: 'team', value: 'video' }] } } as object;
		const run = await runGateway('image', sandbox, { prompt: 'a', wait: 'dontWait' }, { settings });
		expect(tracing(run)).toMatchObject({ team: 'video', 'gateway.models': 'gamma-image-2' });
		const { answers, run: agent } = await runTool('image', sandbox, { prompt: 'a', wait: 'dontWait' }, [{}]);
		expect(answers[0].error).toBeUndefined();
		expect(sandbox.tasks).toHaveLength(2);
		expect(agent.data.resultData.runData.Node[0].metadata?.tracing).toBeUndefined();
	});
});
