/** The executions that a run is handed to: a supervisor, and the pollers that it starts one after the other, in n8n's engine. */
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { credentialOf } from '../../nodes/durable/handedOver';
import { useJournal, fromItem, inItems } from '../support/journalRuns.mts';
import { hurry, prompts, quick, type RunOptions } from '../support/nodes.mts';
import { detailsOf, handOverIn, orderOf } from '../support/orders.mts';

const runs = useJournal();

const waiting = { ...fromItem, wait: 'acrossRestarts' };
const onFail = { retryOnFail: true, maxTries: 3, waitBetweenTries: 0 };

let milliseconds = Date.now();

/** The orders as the node hands them over. */
async function handOver(items: INodeExecutionData[], options: RunOptions = {}, more: IDataObject = {}) {
	const kept = { executionId: '1', establishedAt: milliseconds++ };
	const { handed } = await runs.handOver({ ...waiting, ...more }, { mode: 'trigger', kept, items, ...options });
	return handed[0] ?? [];
}

interface Round {
	/** The memory of the supervisor after the round before. */
	flow?: IDataObject;
	/** What n8n has of the poller of that round. */
	dead?: object;
	mode?: 'integrated' | 'retry';
	/** The nodes after it. */
	others?: RunOptions['others'];
}

/** A round of the supervisor: the orders that it gives to the next poller, or those that it has ended. */
async function supervise(items: INodeExecutionData[], { flow, dead, mode = 'integrated', others }: Round = {}) {
	const contextData = flow && { flow: { ...flow, polledBy: '102' } };
	const kept = { executionId: '101', contextData };
	const step = { operation: 'durableKeepWaiting' };
	const { handed, data } = await runs.handOver(step, { mode, kept, items, others }, dead && { 102: dead });
	return {
		given: handed[0] ?? [],
		ended: data.resultData.runData.Node?.at(-1)?.data?.main[0] ?? [],
		flow: data.executionData?.contextData.flow as IDataObject,
	};
}

/** A poller, until it has nothing left to do. */
async function polled(items: INodeExecutionData[], executionId = '102') {
	const kept = { executionId };
	const { data } = await runs.handOver({ operation: 'durablePollTasks' }, { mode: 'integrated', kept, items });
	await runs.rows();
	return data.resultData.runData.Node?.at(-1)?.data?.main[0] ?? [];
}

const poll = async (...poller: Parameters<typeof polled>) => endsOf(await polled(...poller));

/** Each order as its end, and the reason of an error. */
const endsOf = (items: INodeExecutionData[]) =>
	items.map((item) => {
		const { state, end } = orderOf(item);
		return end?.error?.details.reason?.name ?? end?.as ?? state;
	});

const prompted = () => runs.sandbox.tasks.map(({ body }) => String(body.prompt).slice(0, 1)).join('');

test('each poller has a lease that its supervisor has written, and goes on with the numbers of the run', async () => {
	const { given } = await supervise(await handOver(prompts('a', 'b', 'c')));
	expect(handOverIn(given)?.claim).toEqual({
		lease: expect.stringMatching(/^101-poller0-/),
		after: expect.any(String) as string,
	});
	expect(await poll(given)).toEqual(['done', 'done', 'done']);
	const rows = await runs.rows();
	expect(rows.filter(({ state }) => state === 'lease').map(({ execution, first }) => [execution, first])).toEqual([
		['1', '1'],
		['101', '1'],
	]);
	const sent = rows.filter(({ state }) => state === 'submitting');
	expect(sent.map(({ execution, number, item, node, workflow }) => [execution, number, item, node, workflow])).toEqual([
		['1', 0, 0, 'Node', 'wf'],
		['102', 1, 1, 'Node', 'wf'],
		['102', 2, 2, 'Node', 'wf'],
	]);
});

test('after a death, the next poller has a lease of its own, and delivers what the dead one has bought', async () => {
	const start = await handOver(prompts('a', 'b', 'c'));
	const { given, flow } = await supervise(start);
	await poll(given);
	const next = await supervise(start, { flow });
	expect(handOverIn(next.given)?.claim).toEqual({
		lease: expect.stringMatching(/^101-poller1-/),
		after: expect.stringMatching(/^101-poller0-/) as string,
	});
	expect(next.given.map((item) => orderOf(item).state)).toEqual(['accepted', 'planned', 'planned']);
	expect(await poll(next.given, '103')).toEqual(['done', 'done', 'done']);
	expect(prompted()).toBe('abc');
});

test('a task that fails frees its Purchase Key, also where nothing was left to buy', async () => {
	const more = { options: { ...quick, purchaseKey: 'order 1' } };
	const deliver = async (executionId: string) => {
		const kept = { executionId, establishedAt: milliseconds++ };
		const { given } = await supervise(await handOver(prompts('a [[sandbox fail]]'), { kept }, more));
		return await poll(given);
	};
	expect(await deliver('1')).toEqual(['taskFailed']);
	expect((await runs.rows()).map(({ state }) => state)).toContain('failed');
	expect(await deliver('2')).toEqual(['taskFailed']);
	expect(prompted()).toBe('aa');
});

test('a supervisor that starts another workflow has a lease, also where nothing is left to buy: a retry has to find it', async () => {
	const others = [{ name: 'Start Workflow', type: 'n8n-nodes-base.executeWorkflow', after: 'Node' }];
	const start = await handOver(prompts('a'));
	const { given } = await supervise(start, { others });
	expect(handOverIn(given)?.claim?.lease).toMatch(/^101-poller0-/);
	const leases = (await runs.rows()).filter(({ state }) => state === 'lease');
	// The second one stops nothing: it has nothing to send.
	expect(leases.map(({ execution, code }) => [execution, code])).toEqual([
		['1', ''],
		['101', 'sends_nothing'],
	]);
});

test('what a run with Report Credits has used is a row of the run, which Results writes', async () => {
	const start = await handOver(prompts('a', 'b'), {}, { options: { ...quick, reportCredits: true } });
	const { given } = await supervise(start);
	const [first, ...others] = await polled(given);
	const facts = detailsOf(start[0] as INodeExecutionData).gateway_run;
	const items = [
		{ json: { ...first?.json, details: { ...(first?.json.details as IDataObject), gateway_run: facts } } },
		...others,
	];
	await runs.handOver({ operation: 'durableHandOut' }, { mode: 'integrated', kept: { executionId: '101' }, items });
	const used = (await runs.rows()).filter(({ state }) => state === 'run');
	expect(used.map(({ credits, model, node, workflow }) => [credits, model, node, workflow])).toEqual([
		[8, 'gamma-image-2', 'Node', 'wf'],
	]);
});

/** A poller as n8n has it that has saved these orders when it slept. */
const asleepWith = (rows: INodeExecutionData[]) => ({
	resultData: { runData: {} },
	executionData: { contextData: { 'node:Poll Tasks': { rows } } },
});

test.each([[{}], [{ settings: onFail }]])(
	'an ID that n8n has saved counts where the rows are gone, and nothing without an ID is sent (%j)',
	async (options) => {
		const start = await handOver(prompts('a', 'b'), options);
		const { given, flow } = await supervise(start);
		runs.tables.clear();
		const next = await supervise(start, { flow, dead: asleepWith(given) });
		expect(handOverIn(next.given)?.claim?.gap).toMatch(/^Rows of this run are missing/);
		expect(await poll(next.given, '103')).toEqual(['done', 'outcomeStillUnknown']);
		expect(prompted()).toBe('a');
	},
);

test('what n8n has saved as delivered ends the wait, and is not fetched again', async () => {
	const start = await handOver(prompts('a', 'b'));
	const { given, flow } = await supervise(start);
	const next = await supervise(start, { flow, dead: asleepWith(await polled(given)) });
	expect([endsOf(next.ended), next.given]).toEqual([['done', 'done'], []]);
});

test.each([
	['with Stop Workflow, it holds back', {}, 'notSubmitted', 'ab'],
	['with Continue, it does not hold back', inItems, 'done', 'abc'],
])('a task that has failed before a death: %s what is still to be submitted', async (_, options, end, bought) => {
	const start = await handOver(prompts('a', 'b [[sandbox fail]]', 'c'), options);
	const { given, flow } = await supervise(start);
	const [first, failing] = given as [INodeExecutionData, INodeExecutionData];
	// The dead poller comes to the second item only.
	expect((await poll([first, failing])).at(-1)).toBe('taskFailed');
	const next = await supervise(start, { flow });
	expect(await poll(next.given, '103')).toEqual(['done', 'taskFailed', end]);
	expect(prompted()).toBe(bought);
});

describe('Retry On Fail', () => {
	test.each<[string, string[], RunOptions['settings'], string]>([
		['submits what has failed again, as often as the node says', ['a [[sandbox fail]]'], onFail, 'aaa'],
		[
			'does so with Continue where the first item has failed',
			['a [[sandbox fail]]', 'b'],
			{ ...onFail, ...inItems.settings },
			'abaa',
		],
		[
			'does nothing with Continue where another item has failed: n8n would not run the node again',
			['a', 'b [[sandbox fail]]'],
			{ ...onFail, ...inItems.settings },
			'ab',
		],
		['is off', ['a [[sandbox fail]]'], {}, 'a'],
	])('in the database, it %s', async (_, texts, settings, bought) => {
		const { given } = await supervise(await handOver(prompts(...texts), { settings }));
		await poll(given);
		expect(prompted()).toBe(bought);
	});

	test('In Another Workflow, it does so with Continue where the node has seen the first item refused', async () => {
		runs.sandbox.faults.add({ on: 'create', match: { promptIncludes: 'a' }, do: '422' });
		const background = { wait: 'inAnotherWorkflow', workflowId: { __rl: true, mode: 'id', value: 'other' } };
		const settings = { ...onFail, ...inItems.settings };
		const { given } = await supervise(await handOver(prompts('a', 'b'), { settings }, background));
		expect(await poll(given)).toEqual(['done', 'done']);
		expect(prompted()).toBe('ba');
	});

	test('it gets the result of a task again that was created elsewhere', async () => {
		const items = prompts('a [[sandbox poll=no_key_text]]');
		await runs.run('image', { ...fromItem, wait: 'dontWait' }, { items });
		const getResult = { operation: 'getResult', taskId: runs.sandbox.tasks[0].id };
		const { given } = await supervise(await handOver(items, { settings: onFail }, getResult));
		expect(await poll(given)).toEqual(['done']);
		expect(prompted()).toBe('a');
	});

	test('the tries of dead pollers count', async () => {
		const start = await handOver(prompts('a [[sandbox fail]]'), { settings: onFail });
		const { given, flow } = await supervise(start);
		await poll(given);
		const next = await supervise(start, { flow });
		expect(await poll(next.given, '103')).toEqual(['taskFailed']);
		expect(prompted()).toBe('aaa');
	});
});

test.each<[string, (vault: jest.SpyInstance) => void]>([
	['the credential', (vault) => vault.mockRejectedValue(new Error('sealed'))],
	['its key', (vault) => vault.mockResolvedValue({ baseUrl: runs.sandbox.baseUrl, apiKey: '' })],
])('a poller that cannot read %s for now sleeps with its orders, and sends nothing', async (_, seal) => {
	const { given } = await supervise(await handOver(prompts('a', 'b')));
	const kept = { executionId: '102' };
	const step = { operation: 'durablePollTasks' };
	const { promise, additionalData } = runs.begin('image', step, { mode: 'integrated', kept, items: given });
	const vault = jest.spyOn(additionalData.credentialsHelper, 'getDecrypted');
	seal(vault);
	const { data, waitTill } = await promise;
	vault.mockRestore();
	expect(waitTill?.getTime()).toBeGreaterThan(Date.now() + 60_000);
	const { rows } = data.executionData?.contextData['node:Node'] as { rows: INodeExecutionData[] };
	expect(rows.map((row) => orderOf(row).state)).toEqual(['accepted', 'planned']);
	expect(await poll(given)).toEqual(['done', 'done']);
	expect(prompted()).toBe('ab');
});

test.each([
	['whose journal is open', false],
	['that cannot read the credential', true],
])('a poller %s, and for which nothing waits any more, names what one before it has bought', async (_, isSealed) => {
	const start = await handOver(prompts('a [[sandbox duration=60s]]', 'b', 'c'));
	const { given, flow } = await supervise(start);
	const step = { operation: 'durablePollTasks' };
	const dying = { mode: 'integrated' as const, kept: { executionId: '102' }, items: given.slice(0, 2) };
	await runs.crash(step, dying, () => runs.tables.rows.filter(({ state }) => state === 'accepted').length === 2);
	const next = await supervise(start, { flow });
	Object.assign(handOverIn(next.given) ?? {}, { concurrency: 1 });
	const kept = { executionId: '103', parentExecutionId: '101' };
	const stopped = { resultData: { runData: {}, error: { reason: 'manual' } } };
	const { promise, additionalData } = runs.begin('image', step, { mode: 'integrated', kept, items: next.given });
	const asleep = {
		waitTill: new Date(4e12),
		resultData: { runData: {} },
		parentExecution: { executionId: '101', workflowId: 'wf' },
	};
	additionalData.getRunExecutionData = async (id) => await Promise.resolve((id === '101' ? stopped : asleep) as never);
	const vault = jest.spyOn(additionalData.credentialsHelper, 'getDecrypted');
	if (isSealed) vault.mockRejectedValue(new Error('sealed'));
	const { data } = await promise;
	const ended = data.resultData.runData.Node?.at(-1)?.data?.main[0] ?? [];
	expect(endsOf(ended)).toEqual(['waitingInterrupted', 'waitingInterrupted', 'submissionStopped']);
	expect(ended.slice(0, 2).map((item) => orderOf(item).task?.taskId)).toEqual(runs.sandbox.tasks.map(({ id }) => id));
});

/** The first try has waited in memory, and its retry hands over what it submits, after the canary. */
describe('a retry that hands its orders over goes by what n8n has saved of the first try', () => {
	const items = prompts('a', 'b [[sandbox poll=404*all]]', 'c [[sandbox poll=404*all]]', 'd [[sandbox poll=404*all]]');
	const givenUp = ['done', 'createdTaskNotFound', 'createdTaskNotFound', 'createdTaskNotFound'];

	async function handedOverAgain(more: IDataObject) {
		hurry(60);
		const kept = { executionId: '1', establishedAt: milliseconds++ };
		const first = await runs.run('image', fromItem, { mode: 'trigger', kept, items, ...inItems });
		const { contextData } = first.data.executionData as { contextData: Record<string, IDataObject> };
		const parameters = { ...waiting, ...more };
		const again = { mode: 'retry' as const, kept: { ...kept, executionId: '2', contextData }, items };
		const { handed } = await runs.handOver(parameters, again);
		const { given, flow } = await supervise(handed[0] ?? []);
		const ends = await poll(given);
		// Its poller dies, and the next one begins with the same.
		const next = await supervise(handed[0] ?? [], { flow });
		expect(await poll(next.given, '103')).toEqual(ends);
		return ends;
	}

	test('a person gets another task for what was given up', async () => {
		const ends = await handedOverAgain({ options: { ...quick, submitAgainForRun: '1.0' } });
		expect([ends, prompted()]).toEqual([givenUp, 'abcdbcd']);
	});

	/** A first try that n8n's death has left in doubt; the retry has another prompt, and names the run. */
	test('what a dead poller has bought in the place of a doubt, with another request, is not bought again', async () => {
		const kept = { executionId: '1', establishedAt: milliseconds++ };
		const two = prompts('a [[sandbox create=504]]', 'b [[sandbox create=504]]');
		const first = await runs.run('image', fromItem, { mode: 'trigger', kept, items: two, ...inItems });
		const { contextData } = first.data.executionData as { contextData: Record<string, IDataObject> };
		const parameters = {
			...waiting,
			prompt: '={{ $json.prompt.slice(0, 1) }}2',
			options: { ...quick, submitAgainForRun: '1.0' },
		};
		const again = { mode: 'retry' as const, kept: { ...kept, executionId: '2', contextData }, items: two };
		const { handed } = await runs.handOver(parameters, again);
		const { given, flow } = await supervise(handed[0] ?? []);
		expect(await poll(given)).toEqual(['done', 'done']);
		const next = await supervise(handed[0] ?? [], { flow });
		expect(await poll(next.given, '103')).toEqual(['done', 'done']);
		expect(prompted()).toBe('ab');
	});

	test('another request is another purchase', async () => {
		const ends = await handedOverAgain({ prompt: '={{ $json.prompt }} again' });
		expect([ends, prompted()]).toEqual([givenUp, 'abcdabcd']);
	});
});

describe('the end of a supervisor', () => {
	const over = { rounds: 50 };

	test('what the rows tell has its ID, and what was surely not sent says so', async () => {
		const start = await handOver(prompts('a', 'b', 'c'));
		const { given, flow } = await supervise(start);
		const [first, second] = given as [INodeExecutionData, INodeExecutionData];
		await poll([first, second]);
		const { ended, given: none } = await supervise(start, { flow: { ...flow, ...over } });
		expect(none).toEqual([]);
		expect(endsOf(ended)).toEqual(['waitingInterrupted', 'waitingInterrupted', 'submissionStopped']);
		expect(ended.map((item) => orderOf(item).task?.taskId)).toEqual([
			...runs.sandbox.tasks.map(({ id }) => id),
			undefined,
		]);
	});

	test.each<[string, () => void]>([
		['all', () => runs.tables.clear()],
		['the lease of the dead poller', () => void runs.tables.rows.pop()],
	])('where the rows are gone, an order without an ID may have been sent: %s', async (_, remove) => {
		const start = await handOver(prompts('a', 'b'));
		const { flow } = await supervise(start);
		await runs.rows();
		remove();
		const { ended } = await supervise(start, { flow: { ...flow, ...over } });
		expect(endsOf(ended)).toEqual(['waitingInterrupted', 'outcomeStillUnknown']);
	});

	test('no further poller is started once a person has stopped one', async () => {
		const start = await handOver(prompts('a', 'b'));
		const { flow } = await supervise(start);
		const dead = { resultData: { runData: {}, error: { reason: 'manual' } } };
		const { given, ended } = await supervise(start, { flow, dead });
		expect([given, endsOf(ended)]).toEqual([[], ['waitingInterrupted', 'submissionStopped']]);
	});

	test.each<[string, RunOptions]>([
		['without Retry On Fail', {}],
		['with Retry On Fail', { settings: onFail }],
	])(
		'where n8n was away until the time was over, one more poller gets what has finished, and submits nothing: %s',
		async (_, options) => {
			const start = await handOver(prompts('a', 'b', 'c'), options);
			const { given, flow } = await supervise(start);
			// The dead poller has bought the second one, and has saved nothing.
			await poll(given.slice(0, 2));
			const { gateway_run: facts } = detailsOf(start[0] as INodeExecutionData) as { gateway_run: IDataObject };
			facts.deadlineMs = Date.now() - 1;
			const late = await supervise(start, { flow });
			expect(await poll(late.given, '103')).toEqual(['done', 'done', 'submissionStopped']);
			const after = await supervise(start, { flow: late.flow });
			expect([after.given, endsOf(after.ended)]).toEqual([
				[],
				['waitingInterrupted', 'waitingInterrupted', 'submissionStopped'],
			]);
			expect(after.ended[2]?.json.details).toMatchObject({
				gateway_order: { end: { error: { message: 'This item was not submitted, because the time for it is over' } } },
			});
			expect(prompted()).toBe('ab');
		},
	);

	test('a person’s retry of it goes on with what has an ID, and submits nothing else', async () => {
		const start = await handOver(prompts('a', 'b'));
		await supervise(start);
		const { given } = await supervise(start, { mode: 'retry' });
		expect(await poll(given, '103')).toEqual(['done', 'submissionStopped']);
		expect(prompted()).toBe('a');
	});

	test('a person’s retry of one that starts another workflow goes on with what is left, and buys nothing twice', async () => {
		const others = [{ name: 'Start Workflow', type: 'n8n-nodes-base.executeWorkflow', after: 'Node' }];
		const start = await handOver(prompts('a', 'b', 'c'));
		const { given } = await supervise(start, { others });
		await poll(given.slice(0, 2));
		const retried = await supervise(start, { mode: 'retry', others });
		expect(await poll(retried.given, '103')).toEqual(['done', 'done', 'done']);
		expect(prompted()).toBe('abc');
		// The poller before it is stopped by its lease.
		expect(await poll(given, '104')).toEqual(['done', 'done', 'done']);
		expect(prompted()).toBe('abc');
	});

	test('a person’s retry of it gets what a poller has bought that n8n has not saved', async () => {
		const start = await handOver(prompts('a', 'b', 'c'));
		const { given } = await supervise(start);
		await poll(given.slice(0, 2));
		const retried = await supervise(start, { mode: 'retry' });
		expect(await poll(retried.given, '103')).toEqual(['done', 'done', 'submissionStopped']);
		expect(prompted()).toBe('ab');
	});

	test('where a person has cleared the table before, the retry says that the rest may have been submitted', async () => {
		const start = await handOver(prompts('a', 'b'));
		await supervise(start);
		runs.tables.clear();
		const { given } = await supervise(start, { mode: 'retry' });
		expect(await poll(given, '103')).toEqual(['done', 'outcomeStillUnknown']);
		expect(prompted()).toBe('a');
	});
});

test.each([
	['Credential with ID "7" does not exist for type "generationGatewayApi".', 'ends'],
	['Referenced node doesn’t exist [Error resolving credentials]', 'ends'],
	['SQLITE_BUSY: database is locked', 'waits'],
])('where n8n cannot read the credential (%s), an execution that sleeps %s', async (words, then) => {
	const getCredentials = async () => await Promise.reject(new Error(words));
	const found = await credentialOf({ getCredentials } as never);
	expect(found).toEqual(then === 'ends' ? { deleted: words } : { isAway: true });
});
