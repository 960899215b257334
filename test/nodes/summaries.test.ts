/** The words at the end of a run: the summary below an error, hints, and the record of its tasks in n8n's log. */
import type { IDataObject, IExecuteFunctions, INode } from 'n8n-workflow';
import { GatewayError, gatewayError, type GatewayErrorKind } from '../../core/errors';
import type { Order } from '../../core/orders/order';
import { accept, endBadly, makeOrder } from '../../core/orders/states';
import { toNodeError } from '../../nodes/errors/toNodeError';
import { listIds, listOtherMistakes, summarizeAccepted } from '../../nodes/run/batchSummary';
import { HINTS, hintsFor, notSentHint } from '../../nodes/run/hints';
import { TaskLog } from '../../nodes/run/taskLog';

function bought(item: number, taskId = `t${item}`, status?: string): Order {
	const request = { body: {}, hash: 'h', submitAgain: false };
	const order = makeOrder({ item, thing: 'task', kind: 'image', then: 'poll', request });
	order.state = 'submitting';
	accept(order, { taskId, status, elapsedMs: 0 }, 1);
	return order;
}

function failed(item: number, kind: GatewayErrorKind = 'taskFailed'): Order {
	const order = bought(item);
	endBadly(order, new GatewayError(kind, 'x', { task: order.task }));
	return order;
}

describe('the summary below an error', () => {
	const place = { operation: 'generate', isTool: false, items: 5 };
	const interrupted = (taskId?: string) =>
		gatewayError(
			'waitingInterrupted',
			{ id: taskId ?? '' },
			{ task: taskId === undefined ? undefined : { taskId, elapsedMs: 0 } },
		);
	const written = (advice: string, ids: string[]) =>
		toNodeError(
			of('balance'),
			{ node: {} as INode, itemIndex: 0 },
			{ last: advice, ids: { label: 'Other tasks', ids } },
		).description;
	const of = (kind: GatewayErrorKind, details = {}) => new GatewayError(kind, 'x', details);

	test('the summary below an error names other items with mistakes', () => {
		expect(listOtherMistakes([])).toBeUndefined();
		expect(listOtherMistakes([3])).toBe('Item 3 also has values that are not allowed. n8n counts items from 0.');
		expect(listOtherMistakes([3, 5])).toBe(
			'Items 3, 5 also have values that are not allowed. n8n counts items from 0.',
		);
	});

	test('the summary below an error has all IDs for Error details, with their status, and without it for the text', () => {
		const tasks = ['a', 'b', 'c', 'd'].map((taskId, index) => ({ taskId, status: index === 0 ? undefined : 'queued' }));
		expect(listIds(tasks, 'Other IDs')).toEqual({
			ids: { label: 'Other IDs', ids: ['a', 'b', 'c', 'd'] },
			details: 'All other IDs of this run: a, b (queued), c (queued), d (queued)',
		});
	});

	test('the summary below an error ends with as many IDs as five lines of the panel have room for, three at most', () => {
		expect(written('x', ['a', 'b', 'c'])).toBe('x Other tasks: a, b, c.');
		expect(written('x', ['a', 'b', 'c', 'd'])).toBe('x Other tasks: a, b, c and 1 more, under Error details.');
		const id = 'i'.repeat(40);
		const ends = (length: number) => written('x'.repeat(length), [id, id, id])?.slice(length + 1);
		expect(ends(146)).toBe(`Other tasks: ${id}, ${id}, ${id}.`);
		expect(ends(147)).toBe(`Other tasks: ${id}, ${id} and 1 more, under Error details.`);
		expect(ends(157)).toBe(`Other tasks: ${id} and 2 more, under Error details.`);
		expect(ends(199)).toBe('IDs: see Error details.');
	});

	test('long words of the service are cut where the way on would be in a sixth line, and are under Error details as a whole', () => {
		const serviceMessage = 'The prompt was refused. '.repeat(15).trim();
		const refused = (text: string) =>
			gatewayError('contentDeclined', {}, { serviceMessage: text, serviceCode: 'policy', httpStatus: 400 });
		const others = ['task_0123456789', 'task_9876543210'].map((id, item) => bought(item, id));
		const panel = (error: GatewayError, { isTool = false } = {}) =>
			toNodeError(
				error,
				{ node: {} as INode, itemIndex: 0, operation: 'generate', isTool },
				summarizeAccepted(others, [], error, place),
			);

		const cut = panel(refused(serviceMessage));
		expect(cut.description).toMatch(
			/^The service says: "The prompt was refused\. [^"]*…"\. To get the rest, .* 3 items/,
		);
		expect(cut.description).toContain('IDs: see Error details.');
		expect(cut.messages).toContain(`The service says: "${serviceMessage}", code policy (HTTP 400).`);

		const short = panel(refused('No.'));
		expect(short.description).toMatch(/^The service says: "No\.", code policy \(HTTP 400\)\. To get the rest/);
		expect(short.messages.join()).not.toContain('The service says');

		// An agent reads the message only.
		expect(panel(refused(serviceMessage), { isTool: true }).message).toContain(serviceMessage);
	});

	test('the words of the service that are not the cause make room for the way on', () => {
		const serviceMessage = 'Invalid token (request id: 2026112504591234567890). '.repeat(4).trim();
		const error = gatewayError('keyRefused', {}, { serviceMessage, httpStatus: 401 });
		const others = ['task_0123456789', 'task_9876543210'].map((id, item) => bought(item, id));
		const run = summarizeAccepted(others, [], error, place);
		const { description, messages } = toNodeError(
			error,
			{ node: {} as INode, itemIndex: 0, operation: 'generate' },
			run,
		);
		expect(description).toMatch(
			/^The key is wrong or has expired\..* Then retry this execution .* Other tasks: task_0123456789, task_9876543210\.$/,
		);
		expect(description).not.toContain('The service says');
		expect(messages).toContain(`The service says: "${serviceMessage}" (HTTP 401).`);
	});

	test('the summary below an error is about the others: not the one that the error is about, what was not bought, or what is unknown', () => {
		const orders = [
			bought(0),
			bought(1),
			{ ...bought(2), acceptedAtMs: undefined },
			{ ...bought(3), task: undefined },
			bought(4, ''),
		];
		expect(summarizeAccepted(orders, ['t0', 'before'], interrupted('t0'), place)).toEqual({
			rest: { others: 2, unsubmitted: 2 },
			last: '',
			ids: { label: 'Other tasks', ids: ['before', 't1'] },
			details: 'All other IDs of this run: before (in_progress), t1',
		});
	});

	test('items that share a task (Purchase Key) are submitted', () => {
		const rest = (orders: Order[], error: GatewayError) => summarizeAccepted(orders, [], error, place).rest;
		const shared = [bought(0, 'one'), bought(1, 'one'), bought(2, 'one')];
		expect(rest([...shared, bought(3, 'two')], interrupted('two'))).toMatchObject({ others: 1, unsubmitted: 1 });
		expect(rest([...shared, bought(3, 'two')], interrupted('one'))).toMatchObject({ others: 1, unsubmitted: 1 });
	});

	test('the summary below an error counts the item of the error as submitted only where something of it may have been accepted', () => {
		const unsubmitted = (error: GatewayError) => summarizeAccepted([bought(1)], [], error, place).rest?.unsubmitted;
		expect(unsubmitted(of('balance'))).toBe(4);
		expect(unsubmitted(of('outcomeUnknown'))).toBe(3);
		expect(unsubmitted(interrupted('t0'))).toBe(3);
	});

	test('the summary below an error tells items of unknown outcome from those that a retry submits: Submit Again would buy them, too', () => {
		const unclear = (item: number) => {
			const order = makeOrder({
				...{ item, thing: 'task', kind: 'image', then: 'poll' },
				request: { body: {}, hash: 'h', submitAgain: false },
			});
			endBadly(order, of('outcomeUnknown'));
			return order;
		};
		const unknown = gatewayError('outcomeUnknown', { thing: 'task', what: 'No answer', atMs: 0 });
		expect(summarizeAccepted([bought(0), unclear(1), unclear(2), unclear(3)], [], unknown, place)).toEqual({
			...{ rest: { others: 1, unsubmitted: 1, unclear: 2 }, last: '', ids: { label: 'Other tasks', ids: ['t0'] } },
			details: 'All other IDs of this run: t0. Also of unknown outcome, by the index of the item: 2, 3',
		});
		expect(summarizeAccepted([unclear(0), unclear(1), unclear(2)], [], unknown, place)).toEqual({
			rest: { others: 0, unsubmitted: 2, unclear: 2 },
			details: 'Also of unknown outcome, by the index of the item: 1, 2',
		});
		expect(summarizeAccepted([unclear(0)], [], unknown, place)).toEqual({});
		expect(summarizeAccepted([unclear(0), failed(1), unclear(2)], [], unknown, place).details).toBe(
			'Also failed: t1. Also of unknown outcome, by the index of the item: 2',
		);
		// Like an API key that was created and cannot be read again.
		expect(summarizeAccepted([unclear(0), failed(1, 'outcomeUnknown')], [], unknown, place)).toEqual({
			...{ rest: { others: 1, unsubmitted: 3 }, last: '', ids: { label: 'Other tasks', ids: ['t1'] } },
			details: 'All other IDs of this run: t1',
		});
		const busy = summarizeAccepted([bought(0), unclear(1)], [], of('balance'), place);
		expect(busy.rest).toEqual({ others: 1, unsubmitted: 3, unclear: 1 });
		expect(busy.last).toMatch(/ 3 items are submitted, and 1 stays unclear\.$/);
		expect(summarizeAccepted([unclear(1), unclear(2)], [], of('balance'), place)).toEqual({
			rest: { others: 0, unsubmitted: 3, unclear: 2 },
			details: 'Also of unknown outcome, by the index of the item: 1, 2',
		});
	});

	test('the summary below an error names failed tasks apart: a retry creates them again', () => {
		const orders = [failed(0), bought(1, 't1', 'queued'), failed(2)];
		expect(
			summarizeAccepted(orders, [], of('taskFailed', { task: { taskId: 't0', elapsedMs: 0 } }), place),
		).toMatchObject({
			ids: { label: 'Other tasks', ids: ['t1'] },
			details: 'All other IDs of this run: t1 (queued). Also failed: t2',
		});
		expect(summarizeAccepted([failed(0), failed(2), failed(3)], [], interrupted('t0'), place)).toEqual({
			rest: { others: 0, unsubmitted: 4 },
			details: 'Also failed: t2, t3',
		});
		expect(summarizeAccepted([failed(1, 'notFound')], [], interrupted('t0'), place)).toMatchObject({
			ids: { label: 'Other tasks', ids: ['t1'] },
		});
		const many = [...[1, 2, 3, 4].map((item) => bought(item)), failed(5)];
		expect(summarizeAccepted(many, [], interrupted('t0'), place).details).toBe(
			'All other IDs of this run: t1, t2, t3, t4. Also failed: t5',
		);
	});

	test('the summary below an error has nothing to say of a single task, but for a retry that continues it', () => {
		expect(summarizeAccepted([], [], of('balance'), place)).toEqual({ details: undefined });
		expect(summarizeAccepted([], [], interrupted('t0'), place)).toEqual({
			rest: { others: 0, unsubmitted: 4 },
			details: undefined,
		});
		expect(summarizeAccepted([], [], interrupted('t0'), { ...place, operation: 'create' })).toEqual({
			details: undefined,
		});
	});

	test('the summary below an error tells an agent the IDs, and of no list of executions', () => {
		expect(
			summarizeAccepted([bought(0, 'a'), bought(1, 'b', 'queued')], [], of('balance'), { ...place, isTool: true }),
		).toEqual({
			last: 'Other requests of this call were accepted and are not lost. Their IDs: a, b (queued).',
		});
		expect(summarizeAccepted([], ['before'], of('balance'), { ...place, isTool: true }).last).toMatch(
			/before \(in_progress\)\.$/,
		);
	});

	test('the summary below an error calls tasks tasks, and all else by IDs', () => {
		const { last, ids } = summarizeAccepted([bought(0, 'a')], [], of('balance'), { ...place, operation: 'create' });
		expect(ids).toEqual({ label: 'Other IDs', ids: ['a'] });
		expect(last).toContain('the other request is not sent again');
	});

	test.each<[string, GatewayError, RegExp | undefined]>([
		['where nothing else leads on', of('balance'), /^Then retry this execution in the Executions list/],
		['with changes, after a mistake in the form', of('badInput'), /^Then save, and in the Executions list/],
		['past an error that would come again', of('rejected'), /^To get the rest, set On Error/],
		['… of the content', of('contentPolicy'), /^To get the rest, set On Error/],
		['… of our own', of('ownMistake'), /^To get the rest, set On Error/],
		['… of a task', of('taskFailed', { permanent: true }), /^To get the rest, set On Error/],
		['… of a result', of('noResult', { permanent: true }), /^To get the rest, set On Error/],
		['… of a download', of('download', { permanent: true }), /^To get the rest, set On Error/],
		['… of a result that may be there next time', of('noResult'), /^Then retry/],
		['also where a final error may be another one next time', of('balance', { permanent: true }), /^Then retry/],
		['also where the service knows nothing of a task', of('notFound'), /^Then retry/],
		['not where the advice has it: a task that failed', of('taskFailed'), undefined],
		['… nobody knows', of('outcomeUnknown'), undefined],
		['… too many', of('rateLimited'), undefined],
		['… not available', of('unavailable'), undefined],
		['… no connection', of('unreachable'), undefined],
		['… the task goes on', interrupted('t9'), undefined],
	])('leads on by a retry: %s', (_, error, words) => {
		const { last = '', ids } = summarizeAccepted([bought(0, 'a')], [], error, place);
		if (words === undefined) expect(last).toBe('');
		else expect(last).toMatch(words);
		expect(ids).toEqual({ label: 'Other tasks', ids: ['a'] });
	});

	test('the summary below an error says which execution is to be retried where another workflow has called it', () => {
		expect(summarizeAccepted([bought(0)], [], of('balance'), { ...place, subExecution: '7' }).last).toContain(
			'execution 7',
		);
	});
});

describe('the hints of an output', () => {
	beforeEach(() => jest.useFakeTimers({ now: Date.UTC(2026, 0, 1) }));
	afterEach(() => jest.useRealTimers());
	const items = (...all: IDataObject[]) => all.map((json) => ({ json }));
	const HOUR_MS = 3_600_000;
	const url = { status: 'completed', url: 'https://a.example/1' };
	const expiring = (ms: number) => ({ ...url, expires_at: new Date(Date.now() + ms).toISOString() });

	test('take a field of the input for no time, where it is none', () => {
		for (const time of ['never', '', 5, null])
			expect(hintsFor(items({ ...url, expires_at: time }), 'getTask', 'task')).toEqual([HINTS.urlsExpire()]);
		const both = items({ ...url, expires_at: 'never' }, expiring(HOUR_MS));
		expect(hintsFor(both, 'getTask', 'task')).toEqual([HINTS.urlsExpireSoon()]);
	});

	test('count what goes on', () => {
		const running = { status: 'in_progress' };
		const ended = ['completed', 'failed'].map((status) => ({ status }));
		expect(hintsFor(items(running, ...ended), 'generate', 'task')).toEqual([HINTS.oneTaskRunning({ buys: true })]);
		expect(hintsFor(items(running), 'waitForTask', 'task')).toEqual([HINTS.oneTaskRunning({ buys: false })]);
		expect(hintsFor(items(running, running), 'generate', 'task')).toEqual([
			HINTS.tasksRunning({ count: 2, buys: true }),
		]);
		expect(hintsFor(items(running, running), 'getTask', 'task')).toEqual([
			HINTS.tasksRunning({ count: 2, buys: false }),
		]);
		expect(hintsFor(items(running), 'upload', 'asset')).toEqual([HINTS.oneAssetProcessed()]);
		expect(hintsFor(items(running, running), 'upload', 'asset')).toEqual([HINTS.assetsProcessed({ count: 2 })]);
		expect(hintsFor(items({ status: 'xactive' }, { status: 'activex' }), 'upload', 'asset')).toEqual([
			HINTS.assetsProcessed({ count: 2 }),
		]);
		for (const status of ['Active', 'failed', 'rejected', 'error', 'Expired'])
			expect(hintsFor(items({ status }), 'upload', 'asset')).toEqual([]);
		expect(hintsFor(items(...ended), 'generate', 'task')).toEqual([]);
		expect(hintsFor(items({ status: 'active' }), 'generate', 'task')).toEqual([HINTS.oneTaskRunning({ buys: true })]);
		expect(hintsFor(items(running), 'generate')).toEqual([]);
	});

	test('do not count errors, nor what another execution waits for', () => {
		expect(hintsFor(items({ error: 'x' }, { execution_id: '7' }), 'generate', 'task')).toEqual([]);
	});

	test.each<[number, string[]]>([
		[-1, [HINTS.urlsExpired()]],
		[0, [HINTS.urlsExpired()]],
		[1, [HINTS.urlsExpireSoon()]],
		[1.49 * HOUR_MS, [HINTS.urlsExpireSoon()]],
		[1.5 * HOUR_MS, [HINTS.urlsExpireInHours({ hours: 2 })]],
		[48 * HOUR_MS, [HINTS.urlsExpireInHours({ hours: 48 })]],
		[48 * HOUR_MS + 1, []],
	])('say when the first result goes: in %d ms', (ms, hints) => {
		expect(hintsFor(items(expiring(100 * HOUR_MS), expiring(ms)), 'generate', 'task')).toEqual(hints);
	});

	test('say that results go, where nobody knows when', () => {
		expect(hintsFor(items(url), 'generate')).toEqual([HINTS.urlsExpire()]);
		expect(hintsFor(items(url, expiring(1)), 'generate')).toEqual([HINTS.urlsExpireSoon()]);
	});

	test('say nothing of results that are there, or that are none', () => {
		expect(hintsFor([{ json: url, binary: {} }], 'generate')).toEqual([]);
		expect(hintsFor(items({ status: 'completed' }, { ...url, status: 'failed' }), 'generate')).toEqual([]);
	});

	test('say how to continue, in a workflow that buys nothing again', () => {
		expect(HINTS.oneTaskRunning({ buys: true })).toBe(
			'1 task is still running at the service. To get its result, create a new workflow: a trigger, and behind it Wait for Task with this task_id. Running this node again creates new tasks, and you pay again. n8n may do so for a node behind it: pin this output before you add one (n8n pins no output with files).',
		);
		expect(HINTS.urlsExpire()).toBe(
			'Result URLs usually expire, for example after 24 hours. To keep these files, create a new workflow with a trigger and a Get Task node, enter each task_id, and turn on Download Result.',
		);
		expect(HINTS.resultNotFound()).toBe(
			'The record of a completed task has no result URL. If the result is somewhere else in it, create a new workflow: a trigger, and behind it Get Task with each task_id and the right path as Result Path in its options.',
		);
	});

	test('name what was not sent', () => {
		expect(notSentHint('M', [])).toEqual([]);
		expect(notSentHint('M', ['Seed'])).toEqual(['Seed was not sent: M does not support it.']);
		expect(notSentHint('M', ['Seed', 'Audio'])).toEqual(['Seed and Audio were not sent: M does not support them.']);
	});
});

describe('the record of the tasks', () => {
	function world({ name = 'Node', isOld = false, broken = false, stopped = false } = {}) {
		const lines: string[] = [];
		const console: string[] = [];
		const data = new Map<string, string>();
		const customData = {
			set: (key: string, value: string) => {
				if (broken) throw new Error('no');
				if (!isOld || /^[\x20-\x7f]*$/.test(key)) data.set(key, value);
			},
			get: (key: string) => data.get(key),
		};
		const say = (level: string) => (line: string) => lines.push(`${level}: ${line}`);
		const context = {
			getNode: () => ({ name }),
			getExecutionId: () => '7',
			getWorkflowDataProxy: () => ({ $execution: { customData } }),
			getExecutionCancelSignal: () => (stopped ? AbortSignal.abort() : new AbortController().signal),
			sendMessageToUI: (text: string) => console.push(text),
			logger: { info: say('info'), warn: say('warn') },
		};
		return { lines, console, data, context, log: new TaskLog(context as unknown as IExecuteFunctions) };
	}

	test('the record of the tasks has each task as soon as it is accepted', () => {
		const { log, lines, console, data } = world();
		log.accepted({ ...bought(0, 'a\nb'), model: 'm' });
		log.accepted(bought(1));
		expect(lines).toEqual([
			'info: Generation Gateway: task a b (m) was accepted, node "Node", item 0, execution 7',
			'info: Generation Gateway: task t1 was accepted, node "Node", item 1, execution 7',
		]);
		expect(console).toEqual(['Task a\nb (m) was accepted, item 0', 'Task t1 was accepted, item 1']);
		expect([...data]).toEqual([['gateway_tasks_Node', 'a\nb t1']]);
	});

	test('the record of the tasks has other things in the log only', () => {
		const { log, lines, data } = world();
		log.accepted({ ...bought(0, 'k'), thing: 'token' });
		log.continued({ ...bought(0, 'k'), thing: 'token' });
		log.continued({ ...bought(0), task: undefined });
		expect(lines).toEqual(['info: Generation Gateway: token k was accepted, node "Node", item 0, execution 7']);
		expect([...data]).toEqual([]);
	});

	test('the record of the tasks says that one was accepted after a stop, and which go on', () => {
		const { log, lines, console } = world({ stopped: true });
		log.accepted(bought(0));
		log.continued(bought(1));
		log.continued(bought(2));
		log.finished(bought(1));
		log.stopped();
		expect(lines).toEqual([
			'info: Generation Gateway: task t0 was accepted after the execution was stopped, node "Node", item 0, execution 7',
			'warn: Generation Gateway: the execution was stopped, still running at the service: t0, t2',
		]);
		expect(console.at(-1)).toMatch(
			/^The execution was stopped. Still running at the service: t0, t2\. To get a result/,
		);
	});

	test('the record of the tasks says nothing of a stop when none goes on', () => {
		const { log, lines } = world();
		log.continued(bought(0));
		log.finished(bought(0));
		log.finished(bought(5));
		log.finished({ ...bought(6), task: undefined });
		log.stopped();
		expect(lines).toEqual([]);
		const { log: unused, data } = world();
		unused.stopped();
		expect([...data]).toEqual([]);
	});

	test('the record of the tasks shows what fits, the unfinished ones first', () => {
		const { log, data } = world();
		const id = (letter: string) => letter.repeat(100);
		for (const letter of ['a', 'b', 'c']) log.continued(bought(0, id(letter)));
		expect(data.get('gateway_tasks_Node')).toBe(`${id('a')} ${id('b')}`);
		log.finished(bought(0, id('a')));
		log.publish();
		expect(data.get('gateway_tasks_Node')).toBe(`${id('b')} ${id('c')}`);
		log.finished(bought(0, id('b')));
		log.finished(bought(0, id('c')));
		log.publish();
		expect(data.get('gateway_tasks_Node')).toBe(`${id('a')} ${id('b')}`);
		const { log: full, data: fullData } = world();
		full.continued(bought(0, 'x'.repeat(127)));
		full.continued(bought(0, 'y'.repeat(127)));
		expect(fullData.get('gateway_tasks_Node')).toHaveLength(255);
	});

	test('the record of the tasks is under the name of the node, which older versions of n8n take in ASCII only', () => {
		const key = (name: string, isOld = false) => {
			const { log, data } = world({ name, isOld });
			log.continued(bought(0));
			return [...data.keys()];
		};
		expect(key('My  (best) node-1')).toEqual(['gateway_tasks_My_best_node_1']);
		expect(key('Bild ä')).toEqual(['gateway_tasks_Bild_ä']);
		expect(key('Bild ä', true)).toEqual(['gateway_tasks_Bild_e4']);
		expect(key('x'.repeat(60))).toEqual([`gateway_tasks_${'x'.repeat(36)}`]);
		expect(key(`${'x'.repeat(35)}𝔸y`)).toEqual([`gateway_tasks_${'x'.repeat(35)}`]);
	});

	test('the record of the tasks is written once, where nothing has changed', () => {
		const { log, data } = world();
		log.continued(bought(0));
		data.clear();
		log.publish();
		expect([...data]).toEqual([]);
	});

	test('the record of the tasks in the log is complete without all else', () => {
		const { log, lines } = world({ broken: true });
		log.accepted(bought(0));
		expect(lines).toHaveLength(1);
		const { context } = world();
		const without = {
			...{ ...context, getWorkflowDataProxy: () => ({}), sendMessageToUI: undefined },
			getExecutionCancelSignal: () => undefined,
		};
		expect(() => new TaskLog(without as unknown as IExecuteFunctions).accepted(bought(0))).not.toThrow();
		const failing = () => {
			throw new Error('no');
		};
		const old = { ...context, getWorkflowDataProxy: failing, sendMessageToUI: failing };
		expect(() => new TaskLog(old as unknown as IExecuteFunctions).accepted(bought(0))).not.toThrow();
	});
});
