/** Report Credits: what a run has cost, as far as the account tells, and never at the cost of the run. */
import { ExecuteContext } from 'n8n-core';
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
	const hints = (task?.hints ?? []).map(({ message }) => message);
	return { json, error, hints, used: Number(hints.join().match(/has used ([\d.]+) credits/)?.[1]) };
}

const paths = () => sandbox.requests.map(({ method, path }) => `${method} ${path.split('?')[0]}`);
const balanceReads = () => paths().filter((path) => path.endsWith('/user/balance')).length;
const elsewhere = 'This includes everything that used the account meanwhile; the service may book some of it later.';
const onError = (value: string) => ({ settings: { onError: value as never } });
const broken = 'a [[sandbox create=400]]';

test("a hint, n8n's log and the console say what the run has used, in credits and USD; items do not", async () => {
	const log = jest.spyOn(ExecuteContext.prototype.logger, 'info');
	const { json, hints } = await run(prompts('a', 'b', 'c'));
	const words = 'The account has used 12 credits (0.06 USD) during this run';
	expect(hints).toContain(`${words}. ${elsewhere}`);
	expect(log.mock.calls.flat()).toContainEqual(
		expect.stringMatching(`^Generation Gateway: ${words.replace(/[()]/g, '\\$&')}, node "Node"`),
	);
	expect(JSON.stringify(json)).not.toContain('credits');
});

describe('what cannot be read is a hint, and the results are there', () => {
	const unknown = (why: RegExp) =>
		expect.stringMatching(
			new RegExp(
				`^It is not known what this run has used, because the used credits of the account could not be read: ${why.source}\\.$`,
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
			expect([answer, error, json[0].status]).toEqual([answer, undefined, 'completed']);
			expect(hints).toContainEqual(unknown(why));
			expect(hints.filter((hint) => /this run/.test(hint))).toHaveLength(1);
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

test('with Continue, what was used is said, although some have failed', async () => {
	const { used } = await run(prompts(broken, 'b'), {}, onError('continueRegularOutput'));
	expect(used).toBe(IMAGE_CREDITS);
});

test('Retry On Fail counts what all its tries have used', async () => {
	const settings = { retryOnFail: true, maxTries: 2, waitBetweenTries: 0 };
	const { used, error } = await run(prompts('a', 'b [[sandbox poll=400]]'), {}, { settings });
	expect(error).toBeUndefined();
	expect(sandbox.tasks).toHaveLength(2);
	expect(used).toBe(2 * IMAGE_CREDITS);
	expect(balanceReads()).toBe(2);
});
