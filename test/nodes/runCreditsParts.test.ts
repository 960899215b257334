/** Report Credits, without n8n: the readings before and after a run, the item that carries what it has used, and the runs around it. */
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import type { CreditsNote } from '../../core/account/spendingRun';
import { spendingRuns } from '../../core/processMemory';
import { HINTS } from '../../nodes/run/hints';
import { addRunCredits, noteSpending, readCreditsBefore } from '../../nodes/run/runCredits';
import type { OnError } from '../../nodes/run/toItem';
import { lightContext, untilDone, type LightOptions } from '../support/lightContext.mts';
import { acceptedOrder } from '../support/orders.mts';

beforeEach(() => jest.useFakeTimers());
afterEach(() => {
	// No timer of a reading stays.
	expect(jest.getTimerCount()).toBe(0);
	jest.useRealTimers();
});

type Answers = Array<object | number | 'never'>;

/** A run with these answers about its balance, and what it has been told. */
function creditsRun({
	answers = [],
	credits = {},
	...given
}: LightOptions & { answers?: Answers; credits?: CreditsNote | false } = {}) {
	let reads = 0;
	const light = lightContext({
		answer: async () => {
			const answer = answers[reads++];
			if (answer === 'never') await new Promise(() => {});
			return typeof answer === 'number' ? (answer as never) : { remain_credits: 1, ...(answer as object) };
		},
		...given,
	});
	const hints = new Set<string>();
	const noteRun = jest.fn();
	const run = {
		context: light.context,
		hints,
		purchases: { noteRun },
		credits: credits === false ? undefined : credits,
	};
	const before = async () => await untilDone(readCreditsBefore(run));
	const add = async (items: INodeExecutionData[], onError: OnError = 'stopWorkflow', more: object = {}) =>
		await untilDone(addRunCredits(items, onError, { ...run, ...more }, [{ ...acceptedOrder(0), model: 'some-model' }]));
	return { ...light, run, hints, noteRun, before, add, reads: () => reads };
}

const item = (json: IDataObject = {}): INodeExecutionData => ({ json });
const unknown = (why: string) => [HINTS.creditsUnknown({ why })];

describe('the reading before the first purchase', () => {
	test('the used credits are noted, once for all tries of a run', async () => {
		const { run, before, reads, memory, hints } = creditsRun({ answers: [{ used_credits: 7 }, { used_credits: 9 }] });
		await before();
		expect(run.credits).toEqual({ usedBefore: 7 });
		Object.assign(run, { credits: {} });
		await before();
		expect([run.credits, reads(), hints.size]).toEqual([{ usedBefore: 7 }, 1, 0]);
		expect(memory.node).toEqual({ creditsBefore: { run: 'own 0', note: { usedBefore: 7 } } });
	});

	test('what another run has done to an earlier try counts for all tries', async () => {
		const { run, before } = creditsRun({ answers: [{ used_credits: 7 }] });
		await before();
		// It has begun later.
		Object.assign(run.credits as CreditsNote, { shared: true });
		for (let tries = 0; tries < 2; tries++) {
			Object.assign(run, { credits: {} });
			await before();
			expect(run.credits).toEqual({ usedBefore: 7, shared: true });
		}
	});

	test('where the first try could not read them, no later one does: what is used then it may have bought itself', async () => {
		const { run, before, hints, reads } = creditsRun({ answers: [404, { used_credits: 9 }] });
		await before();
		hints.clear();
		Object.assign(run, { credits: {} });
		await before();
		expect([run.credits, reads()]).toEqual([{}, 1]);
		expect([...hints]).toEqual(unknown('no answer before the first try'));
	});

	test('another run of the node, or another execution, reads them again', async () => {
		for (const run of ['own 1', 'other 0']) {
			const light = creditsRun({ answers: [{ used_credits: 9 }] });
			light.memory.node.creditsBefore = { run, note: { usedBefore: 7 } };
			await light.before();
			expect(light.run.credits).toEqual({ usedBefore: 9 });
		}
	});

	test('nothing is read where nothing is to be reported', async () => {
		const { before, reads } = creditsRun({ credits: false });
		await before();
		expect(reads()).toBe(0);
	});

	test.each<[string, object | number | 'never', string | RegExp]>([
		['without the used credits', {}, 'the service does not name them'],
		['that does not come', 'never', 'no answer within 3 seconds'],
		['with an error', 404, /[^.]$/],
	])('a balance %s is a hint, and no later reading follows', async (_, answer, why) => {
		const { before, add, run, hints, memory, reads, sent } = creditsRun({ answers: [answer] });
		const beganMs = Date.now();
		await before();
		expect(Date.now() - beganMs).toBeLessThan(3_200);
		expect([run.credits, memory.node]).toEqual([{}, { creditsBefore: { run: 'own 0', note: {} } }]);
		if (typeof why === 'string') expect([...hints]).toEqual(unknown(why));
		else expect([...hints][0]).toMatch(/^There is no run_credits.*[^.]\.$/);
		const fields = item();
		await add([fields]);
		expect([fields.json, reads(), sent.length]).toEqual([{}, 1, 1]);
	});

	test('what n8n says is quoted without its last full stop', async () => {
		const refused = new Error('n8n v1.2 has no credential.');
		const more = { getCredentials: async () => await Promise.reject(refused) };
		const { before, hints } = creditsRun({ more });
		await before();
		expect([...hints]).toEqual(unknown('This node ran into something unexpected: Error: n8n v1.2 has no credential'));
	});

	test('a service in trouble is asked once', async () => {
		const { before, hints, reads } = creditsRun({ answers: [503, 503] });
		await before();
		expect([reads(), hints.size]).toEqual([1, 1]);
	});
});

describe('the credits of a run', () => {
	const answers = [{ used_credits: 10 }];
	const credits = () => ({ usedBefore: 4 });

	test('the first item carries the credits of a run, a hint says them, and the log notes them', async () => {
		const { add, hints, noteRun } = creditsRun({ answers, credits: credits() });
		const items = [item({ a: 1 }), item()];
		await add(items);
		expect(items).toEqual([item({ a: 1, run_credits: 6 }), item()]);
		expect([...hints]).toEqual([HINTS.runCredits({ credits: 6, usd: 0.03 })]);
		expect(noteRun.mock.calls).toEqual([[6, 'some-model']]);
	});

	test('where several executions report what a run has used, each names the models of all its tasks', async () => {
		const { add, noteRun } = creditsRun({ answers, credits: { ...credits(), shared: true, models: 'a, b' } });
		await add([item()]);
		expect(noteRun.mock.calls).toEqual([[6, 'a, b']]);
	});

	test('a run without the purchase log is told, too, and so is one beside others', async () => {
		const { add, hints } = creditsRun({ answers, credits: { ...credits(), shared: true } });
		const items = [item()];
		await add(items, 'stopWorkflow', { purchases: undefined });
		expect(items).toEqual([item({ run_credits: 6, run_credits_shared: true })]);
		expect([...hints]).toEqual([HINTS.runCreditsShared({ credits: 6, usd: 0.03 })]);
	});

	test.each<[string, OnError, INodeExecutionData[], IDataObject[]]>([
		[
			'the first, whatever has come of it',
			'continueRegularOutput',
			[item({ error: 'x' }), item()],
			[{ error: 'x', run_credits: 6 }, {}],
		],
		[
			'the first that has succeeded',
			'continueErrorOutput',
			[item({ error: 'x' }), item()],
			[{ error: 'x' }, { run_credits: 6 }],
		],
		[
			'the details of the first',
			'continueErrorOutput',
			[item({ error: 'x', details: {} })],
			[{ error: 'x', details: { run_credits: 6 } }],
		],
		[
			'none without details',
			'continueErrorOutput',
			[item({ error: 'x', details: 'y' })],
			[{ error: 'x', details: 'y' }],
		],
		['none of no items', 'stopWorkflow', [], []],
	])('the credits of a run are in %s', async (_, onError, items, expected) => {
		const { add } = creditsRun({ answers, credits: credits() });
		await add(items, onError);
		expect(items.map(({ json }) => json)).toEqual(expected);
	});

	test('the credits of an earlier run in the input do not stay, but in a run that reports none', async () => {
		const old = () => item({ run_credits: 99, run_credits_shared: true });
		const silent = creditsRun({ credits: false });
		const items = [old()];
		await silent.add(items);
		expect([items, silent.reads()]).toEqual([[old()], 0]);
		const { add } = creditsRun();
		await add(items);
		expect(items).toEqual([item()]);
	});

	test.each<[object | number | 'never', string | undefined]>([
		[{}, 'the service does not name them'],
		['never', 'no answer within 3 seconds'],
		[500, undefined],
	])('where the balance after a run is %j, there are no credits, and a hint says why', async (answer, why) => {
		const { add, hints, noteRun } = creditsRun({ answers: [answer], credits: credits() });
		const items = [item()];
		await add(items);
		expect([items, noteRun.mock.calls]).toEqual([[item()], []]);
		expect(hints.size).toBe(1);
		if (why !== undefined) expect([...hints]).toEqual(unknown(why));
	});
});

describe('runs that may spend credits at the same time', () => {
	const account = (apiKey: string, baseUrl = 'https://gateway.test') =>
		lightContext({ credential: { apiKey, baseUrl } }).context;

	test('runs of one account know of each other, until they end', async () => {
		const [first, second, later, other] = [{}, {}, {}, {}] as CreditsNote[];
		const end = await noteSpending(account('sk-1'), 1, first);
		const endOther = await noteSpending(account('sk-2'), 2, other);
		const endElsewhere = await noteSpending(account('sk-1', 'https://other.test'), 3, other);
		expect([first, other]).toEqual([{}, {}]);
		const endSecond = await noteSpending(account('sk-1'), 4, second);
		expect([first, second]).toEqual([{ shared: true }, { shared: true }]);
		[end, endSecond, endOther, endElsewhere].forEach((over) => over());
		expect(spendingRuns.size).toBe(0);
		(await noteSpending(account('sk-1'), 5, later))();
		expect(later).toEqual({});
	});

	test('a run that sleeps is known of until it wakes up', async () => {
		const [asleep, during, after] = [{}, {}, {}] as CreditsNote[];
		(await noteSpending(account('sk-3'), 1, asleep))(Date.now() + 1_000);
		(await noteSpending(account('sk-3'), 2, during))();
		expect(during).toEqual({ shared: true });
		jest.setSystemTime(Date.now() + 1_000);
		(await noteSpending(account('sk-3'), 3, after))();
		expect(after).toEqual({});
	});

	test('a run that reports nothing counts, too', async () => {
		const note: CreditsNote = {};
		const end = await noteSpending(account('sk-4'), 1);
		(await noteSpending(account('sk-4'), 2, note))();
		end();
		expect(note).toEqual({ shared: true });
	});
});
