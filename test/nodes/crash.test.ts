/** n8n dies in the middle of a node: what it has forgotten is in the record that was written ahead, and nothing is bought again. */
import type { IDataObject } from 'n8n-workflow';
import { runTool } from '../support/agent.mts';
import { useBinaryMode } from '../support/engine.mts';
import { logLines } from '../support/keySecrecy.mts';
import {
	pause,
	pngField,
	prompts,
	quick,
	quickSandbox,
	runGateway,
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
beforeEach(() => {
	sandbox.reset();
	restart(new ProcessedData());
});

afterEach(() => jest.restoreAllMocks());

function restart(found: ProcessedData) {
	record = found;
	useProcessedData(found);
}

const establishedAt = Date.UTC(2026, 0, 1);
const first: RunOptions = { mode: 'trigger', kept: { executionId: '1', establishedAt } };
/** n8n gives it another ID, and has nothing of the node. */
const retry: RunOptions = { mode: 'retry', kept: { executionId: '2', establishedAt } };
const fromItem = { operation: 'generate', prompt: '={{ $json.prompt }}', options: quick };
const naming = (submitAgainForRun: unknown) => ({
	...fromItem,
	options: { ...quick, submitAgainForRun } as IDataObject,
});
const retrying = { retryOnFail: true, maxTries: 3, waitBetweenTries: 0 };
const creating = () => sandbox.requests.filter(({ method }) => method === 'POST');
const contextOf = ({ run }: Awaited<ReturnType<typeof runGateway>>) =>
	run.data.executionData?.contextData as Record<string, IDataObject>;

async function until(isSo: () => boolean) {
	for (const endMs = Date.now() + 60_000; !isSo(); await pause(5))
		if (Date.now() > endMs) throw new Error('It does not come to that');
}

/** Runs until then; what the process does later is heard of by nobody. */
async function crash(parameters: IDataObject, options: RunOptions, moment: () => boolean, kind: Kind = 'image') {
	const { promise } = startGateway(kind, sandbox, parameters, options);
	await until(moment);
	const left = record.afterCrash();
	promise.cancel();
	await promise;
	restart(left);
}

/** n8n dies before it has saved what the node has put out. */
async function crashAtTheEnd(parameters: IDataObject, options: RunOptions, kind: Kind = 'image') {
	const ended = await runGateway(kind, sandbox, parameters, options);
	restart(record.afterCrash());
	return ended;
}

const slow = prompts('a [[sandbox duration=60s]]', 'b [[sandbox duration=60s]]');
const crashWhileItWaits = async () =>
	await crash(fromItem, { ...first, items: slow }, () => sandbox.tasks.length === 2);

describe('a retry of a crashed execution', () => {
	test('a retry of a crashed execution buys nothing, and says what is not known and how to go on', async () => {
		await crashWhileItWaits();
		const { error } = await runGateway('image', sandbox, fromItem, { ...retry, items: prompts('a', 'b') });
		expect(error?.message).toMatch(/^The service may or may not have accepted this task in an earlier try/);
		expect(error?.description).toMatch(
			/interrupted before it could record .* n8n's log and, .* data table Gateway Purchases\. Look in the task list of your account for tasks created then with other IDs\. If there is none, enter 1767225600000\.0 as Submit Again for Run, else set On Error to Continue\./,
		);
		expect(sandbox.tasks).toHaveLength(2);
	});

	test('a person who names what a crash has left buys once in its place, however long the name stays in the form', async () => {
		await crashAtTheEnd(fromItem, { ...first, items: prompts('a') });
		const again = async () =>
			await crashAtTheEnd(naming(`${establishedAt}.0`), { ...retry, items: prompts('a'), settings: retrying });
		expect((await again()).error).toBeUndefined();
		expect(sandbox.tasks).toHaveLength(2);
		const { error } = await again();
		expect(error?.description).toMatch(
			/enter 1767225600000\.0\.2 as .* Submit Again for Run has 1767225600000\.0, which/,
		);
		expect(sandbox.tasks).toHaveLength(2);
	});

	test.each<[string, unknown, string]>([
		['an expression that gives nothing', '={{ $json.missing }}', ''],
		['an expression that gives a number', '={{ 1767225600000.0 }}', ' Submit Again for Run has 1767225600000, which'],
		['another run', '1.0', ' Submit Again for Run has 1.0, which'],
	])('%s names no run: nothing is bought again', async (_, submitAgainForRun, words) => {
		await crashAtTheEnd(fromItem, { ...first, items: prompts('a') });
		const { error } = await runGateway('image', sandbox, naming(submitAgainForRun), { ...retry, items: prompts('a') });
		expect(error?.description).toContain(`nothing is paid twice.${words}`);
		expect(sandbox.tasks).toHaveLength(1);
	});

	test('a crashed execution buys nothing under its own ID: n8n 1.x hands it to another worker so', async () => {
		await crashWhileItWaits();
		const { error } = await runGateway('image', sandbox, fromItem, {
			mode: 'trigger',
			items: slow,
			kept: { executionId: '1', establishedAt: establishedAt + 5000 },
		});
		expect(error?.message).toMatch(/may or may not have accepted/);
		expect(sandbox.tasks).toHaveLength(2);
	});

	test.each<[string, Kind, IDataObject]>([
		['a token', 'token', { operation: 'create', name: 'a', quota: 'unlimited' }],
		['a video', 'video', { operation: 'generate', model: 'beta-v3', prompt: 'a', wait: 'dontWait' }],
	])('a retry of a crashed execution does not create %s again', async (_, kind, parameters) => {
		sandbox.faults.add({ on: 'create', do: 'reset!after' });
		await crashAtTheEnd(parameters, first, kind);
		const sent = creating().length;
		expect(sent).toBeGreaterThan(0);
		const { error } = await runGateway(kind, sandbox, parameters, retry);
		expect(error?.message).toMatch(/may or may not have accepted this/);
		expect(creating()).toHaveLength(sent);
	});

	test('the calls of a tool in a crashed try are not made again', async () => {
		const parameters = { prompt: `={{ $fromAI('Prompt', 'what it is', 'string') }}`, options: quick };
		const calls = [{ Prompt: 'a cat' }, { Prompt: 'a cat' }];
		await runTool('image', sandbox, parameters, calls, {}, first);
		expect(sandbox.tasks).toHaveLength(2);
		restart(record.afterCrash());
		const { answers } = await runTool('image', sandbox, parameters, calls, {}, retry);
		expect(answers.map(({ error }) => error)).toEqual([
			expect.stringMatching(/may or may not have accepted/),
			expect.stringMatching(/may or may not have accepted/),
		]);
		expect(sandbox.tasks).toHaveLength(2);
	});
});

describe('what ended in order is not held up', () => {
	test('a retry of a webhook’s execution knows its files again, which n8n renames when the execution ends, beside one that a node has stored', async () => {
		const service = await useBinaryMode('filesystem');
		try {
			const { data, ...about } = pngField();
			const stored = async (executionId: string, end = '') => {
				const place = { type: 'execution' as const, workflowId: 'wf', executionId };
				const content = Buffer.concat([Buffer.from(data, 'base64'), Buffer.from(end)]);
				return await service.store(place, content, { data: '', ...about });
			};
			const [file, own] = [await stored(''), await stored('1', 'other content')];
			const image = ['data', 'own'].map((binaryPropertyName) => ({ source: 'binary', binaryPropertyName }));
			const form = { ...fromItem, images: { image } };
			const itemsWith = (id = '') => [
				{ json: { prompt: 'a cat [[sandbox result=none]]' }, binary: { data: { ...file, id }, own } },
			];
			const ended = await runGateway('image', sandbox, form, { ...first, items: itemsWith(file.id) });
			const renamed = String(file.id).replace('/temp/', '/1/');
			expect(renamed).not.toBe(file.id);
			await service.rename(...([file.id, renamed].map((id) => String(id).split(':')[1]) as [string, string]));
			const kept = { ...retry.kept, contextData: contextOf(ended) };
			await runGateway('image', sandbox, form, { ...retry, items: itemsWith(renamed), kept });
			expect(sandbox.tasks).toHaveLength(1);
			expect(creating()).toHaveLength(3); // the uploads and the task
		} finally {
			await useBinaryMode('default');
		}
	});
});

describe('the record', () => {
	test('where n8n’s record cannot be written, the log says so, and the node goes on', async () => {
		record.faults = ['database is locked', 'database is locked'];
		const { json } = await runGateway('image', sandbox, fromItem, { ...first, items: prompts('secret words') });
		expect(json[0].status).toBe('completed');
		const [line] = logLines().filter((each) => each.includes('locked'));
		expect(line).toMatch(
			/record of what is submitted could not be used \(database is locked\), node "Node", execution 1$/,
		);
		expect(logLines().join('\n')).not.toContain('secret words');
	});

	test('where n8n’s record cannot be written at the first try, a retry finds the mark of the second', async () => {
		record.faults = ['database is locked'];
		await crashAtTheEnd(fromItem, { ...first, items: prompts('a') });
		const { error } = await runGateway('image', sandbox, fromItem, { ...retry, items: prompts('a') });
		expect(error?.message).toMatch(/may or may not have accepted/);
		expect(sandbox.tasks).toHaveLength(1);
	});

	test('a retry that cannot read n8n’s record sends nothing, whatever run is named', async () => {
		record.faults = ['database is locked', 'database is locked'];
		const { error } = await runGateway('image', sandbox, naming(`${establishedAt}.0`), {
			...retry,
			items: prompts('a'),
		});
		expect(error?.message).toMatch(/not submitted, because n8n could not record it first/);
		expect(error?.description).toMatch(/database is locked.* retry this execution/);
		expect(creating()).toHaveLength(0);
	});
});
