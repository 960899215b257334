/** Report Credits: what a run has cost, as far as the account tells, and never at the cost of the run. */
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { prompts, quick, quickSandbox, runGateway, type RunOptions, type Sandbox } from '../support/nodes.mts';

let sandbox: Sandbox;
beforeAll(async () => {
	sandbox = await quickSandbox();
	// The first run loads what it needs. On a slow machine that takes longer than the balance is waited for.
	await run(prompts('a'));
});
afterAll(async () => await sandbox.close());
afterEach(() => jest.restoreAllMocks());
beforeEach(() => sandbox.reset());

const report = { ...quick, reportCredits: true };
const form = { operation: 'generate', prompt: '={{ $json.prompt }}', result: 'urlOnly' };
const IMAGE_CREDITS = 4;

async function run(items: INodeExecutionData[], parameters: IDataObject = {}, options: RunOptions = {}) {
	const { json, task, error } = await runGateway(
		'image',
		sandbox,
		{ ...form, options: report, ...parameters },
		{ ...options, items },
	);
	return { json, error, hints: (task?.hints ?? []).map(({ message }) => message) };
}

const paths = () => sandbox.requests.map(({ method, path }) => `${method} ${path.split('?')[0]}`);
const balanceReads = () => paths().filter((path) => path.endsWith('/user/balance')).length;
const elsewhere = 'This includes everything that used the account meanwhile; the service may book some of it later.';
const onError = (value: string) => ({ settings: { onError: value as never } });
const broken = 'a [[sandbox create=400]]';

test('the first item carries what the run has used, and a hint says it in credits and USD', async () => {
	const { json, hints } = await run(prompts('a', 'b', 'c'));
	expect(json.map((item) => item.run_credits)).toEqual([3 * IMAGE_CREDITS, undefined, undefined]);
	expect(json.some((item) => 'run_credits_shared' in item)).toBe(false);
	expect(hints).toContain(`Credits used by the account during this run: 12 (0.06 USD). ${elsewhere}`);
});

describe('what cannot be read is a hint, and the results are there', () => {
	const unknown = (why: RegExp) =>
		expect.stringMatching(
			new RegExp(
				`^There is no run_credits, because the used credits of the account could not be read: ${why.source}\\.$`,
			),
		) as string;
	test.each([
		['before', 0],
		['after', 1],
	])('a balance that cannot be read %s the tasks is a hint, and the results are there', async (_, skip) => {
		for (const [answer, why] of [
			['500', /The service .*/],
			['reset', /.+/],
		] as const) {
			sandbox.reset();
			sandbox.faults.add({ on: 'balance', skip, do: answer });
			const { json, hints, error } = await run(prompts('a'));
			expect([answer, error, json[0].status, 'run_credits' in json[0]]).toEqual([
				answer,
				undefined,
				'completed',
				false,
			]);
			expect(hints).toContainEqual(unknown(why));
			expect(hints.filter((hint) => hint.includes('run_credits'))).toHaveLength(1);
			// After a failed first reading there is no use for a second one.
			expect(balanceReads()).toBe(skip + 1);
		}
	});

	test('a balance that does not come holds up the run for three seconds at most', async () => {
		sandbox.faults.add({ on: 'balance', times: 2, do: 'slow:never' });
		const startedAt = Date.now();
		const { json, hints } = await run(prompts('a'));
		expect(json[0].status).toBe('completed');
		expect(Date.now() - startedAt).toBeLessThan(20_000);
		expect(hints).toContainEqual(unknown(/.*/));
	});
});

describe('the item that carries it, when some have failed', () => {
	const failed = { onError: 'continueRegularOutput' };
	test('with Continue, the first item carries the credits, whatever has come of it', async () => {
		const { json } = await run(prompts(broken, 'b'), {}, onError(failed.onError));
		expect(json.map((item) => [item.error !== undefined, item.run_credits])).toEqual([
			[true, IMAGE_CREDITS],
			[false, undefined],
		]);
	});
});

test('Retry On Fail counts what all its tries have used', async () => {
	const settings = { retryOnFail: true, maxTries: 2, waitBetweenTries: 0 };
	const { json, error } = await run(prompts('a', 'b [[sandbox poll=400]]'), {}, { settings });
	expect(error).toBeUndefined();
	expect(sandbox.tasks).toHaveLength(2);
	expect(json[0].run_credits).toBe(2 * IMAGE_CREDITS);
	expect(balanceReads()).toBe(2);
});

describe('other runs of this process with the account', () => {
	const slow = 'a [[sandbox duration=1500ms]]';
	test('runs of the same account that overlap are said, on both sides', async () => {
		const [first, second] = await Promise.all([run(prompts(slow)), run(prompts('b'))]);
		for (const { json, hints } of [first, second]) {
			expect(json[0].run_credits_shared).toBe(true);
			expect(hints.join()).toContain('Credits used by the account during this run and others at the same time: ');
		}
		expect(first.json[0].run_credits).toBe(2 * IMAGE_CREDITS);
	});

	test('runs that come one after the other do not overlap, nor does one with another key or one that only reads', async () => {
		await run(prompts('a'));
		const other = { credential: { apiKey: 'another' } };
		const [{ json }] = await Promise.all([
			run(prompts(slow)),
			run(prompts('b'), {}, other),
			runGateway('balance', sandbox, { operation: 'getAccountBalance' }),
		]);
		expect('run_credits_shared' in json[0]).toBe(false);
	});

	test.each([
		['before', { skip: 0, do: '500' }],
		['after', { skip: 1, do: '500' }],
		['without its credits after', { skip: 1, do: { merge: { used_credits: null } } }],
	] as const)('nor where this run cannot be read: %s the tasks', async (_, fault) => {
		sandbox.faults.add({ on: 'balance', ...fault });
		const items = [{ json: { prompt: 'a', run_credits: 99, run_credits_shared: true, other: 1 } }];
		const { json, hints } = await run(items, { options: { ...report, includeInputFields: true } });
		expect(hints.join()).toContain('There is no run_credits');
		expect([json[0].run_credits, json[0].run_credits_shared, json[0].other]).toEqual([undefined, undefined, 1]);
	});
});
