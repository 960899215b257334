/** The panel of an error: five lines are read, so the cause and the way on stand there, and all else under Error details. */
import { NodeApiError, NodeOperationError, type INode } from 'n8n-workflow';
import { GatewayError, gatewayError, type GatewayErrorKind } from '../../core/errors';
import type { Order } from '../../core/orders/order';
import { accept, endBadly, makeOrder } from '../../core/orders/states';
import { plain, toNodeError, summarizeAccepted } from '../../nodes/errors/toNodeError';
import type { BatchSummary, ErrorContext } from '../../nodes/errors/toNodeError';

const FIVE_LINES = 285;
const node: INode = { id: '1', name: 'Generate', type: 'image', typeVersion: 1, position: [0, 0], parameters: {} };
const shown = (error: GatewayError, context: Partial<ErrorContext> = {}, run?: BatchSummary) => {
	const made = toNodeError(error, { node, itemIndex: 3, operation: 'generate', ...context }, run);
	return { ...made, message: made.message, panel: made.description ?? '', details: made.messages.slice(1) };
};
/** The words of the service are the cause of one, and none of the other. */
const refused = (serviceMessage: string) => gatewayError('contentDeclined', {}, { serviceMessage, httpStatus: 400 });
const wrongKey = (serviceMessage: string) => gatewayError('keyRefused', {}, { serviceMessage, httpStatus: 401 });

describe('what n8n gets of an error', () => {
	test('a mistake in a form is an operation error, an answer of the service an API error with its status', () => {
		const mistake = toNodeError(gatewayError('fieldEmpty', { label: 'Prompt', enter: '' }), { node, itemIndex: 3 });
		expect(mistake).toBeInstanceOf(NodeOperationError);
		expect(mistake.context.itemIndex).toBe(3);
		const answer = toNodeError(refused('No.'), { node, itemIndex: 3 });
		expect(answer).toBeInstanceOf(NodeApiError);
		expect(answer).toMatchObject({ httpCode: '400', context: { itemIndex: 3 } });
	});

	test('error workflows find the code and the IDs in fields: that of the failed task first', () => {
		const failed = gatewayError('taskFailed', { id: 't1', status: 'failed' }, { task: { taskId: 't1', elapsedMs: 1 } });
		const { context } = shown(failed, {}, { ids: { label: 'Other tasks', ids: ['t2', 't3'] } });
		expect(context).toMatchObject({ code: 'task_failed', ids: ['t1', 't2', 't3'] });
	});

	test('an unknown task may be one of the other kind: Get Result says so, in few lines', () => {
		const unknown = gatewayError('taskUnknown', { id: 't1' }, { httpStatus: 404, serviceMessage: 'Not found' });
		const { panel } = shown(unknown, { operation: 'getResult' });
		expect(panel).toMatch(
			/^Check the ID, that the node fits \(Gateway Image for images, Gateway Video for videos\), and/,
		);
		expect(panel.length).toBeLessThanOrEqual(FIVE_LINES);
		expect(shown(unknown, { operation: 'get' }).panel).toMatch(/^Check the ID, and that the credential/);
	});

	test('nothing of an error is HTML or a control character', () => {
		const { message, panel, details } = shown(refused('<i>\n'), {}, { details: '<u>' });
		expect(`${message} ${panel} ${details.join()}`).not.toMatch(/[<>\n]/);
		expect(plain('a <b> c</b>\n\u202e\u200fd')).toBe('a ‹b› c‹/b› d');
	});
});

describe('words of the service', () => {
	const long = 'The prompt was refused. '.repeat(15).trim();

	test.each([
		[
			'are cut where they are the cause',
			refused,
			/^The service says: "The prompt was refused\. [^"]*…"\. To get the rest, set On Error .* Retry with currently saved workflow: it reads the stored input/,
		],
		[
			'make room for the way on where they are not',
			wrongKey,
			/^The key is wrong [^"]* Then retry this execution in the Executions list: tasks that exist continue, nothing is paid twice\./,
		],
	])('words of the service that are too long %s, and are whole under Error details', (_, make, text) => {
		const ids = ['task_0123456789_abcdefghijkl', 'task_9876543210_abcdefghijkl'];
		const rest = { others: 2, unsent: 1 };
		const { panel, details } = shown(make(long), {}, { rest, ids: { label: 'Other tasks', ids } });
		expect(panel).toMatch(text);
		expect(panel).toMatch(/ 1 item was not sent\. IDs: see Error details\.$/);
		expect(panel.length).toBeLessThanOrEqual(FIVE_LINES);
		expect(details[0]).toContain(`The service says: "${long}" (HTTP 40`);
	});
});

describe('the other items of a run that ends with an error', () => {
	const place = { operation: 'generate', isTool: false };
	const order = (item: number) =>
		makeOrder({
			...{ item, thing: 'task', kind: 'image', then: 'poll' },
			request: { body: {}, hash: 'h' },
		});
	function bought(item: number, taskId = `t${item}`, status?: string): Order {
		const one = order(item);
		one.state = 'submitting';
		accept(one, { taskId, status, elapsedMs: 0 }, 1);
		return one;
	}
	function ended(one: Order, kind: GatewayErrorKind): Order {
		endBadly(one, new GatewayError(kind, 'x', { task: one.task }));
		return one;
	}
	const about = (error: GatewayError, ...orders: Order[]) => summarizeAccepted(orders, [], error, place);
	const balance = new GatewayError('balance', 'x');

	test('all IDs of other items are under Error details, with their status; what has failed or is unknown stands apart', () => {
		const failed = new GatewayError('taskFailed', 'x', { task: { taskId: 't0', elapsedMs: 0 } });
		const orders = [ended(bought(0), 'taskFailed'), bought(1, 't1', 'queued'), ended(bought(2), 'taskFailed')];
		const { ids, details } = about(failed, ...orders, ended(order(3), 'outcomeUnknown'), order(4));
		expect(ids).toEqual({ label: 'Other tasks', ids: ['t1'] });
		expect(details).toBe(
			'Other tasks of this run: t1 (queued). Also failed: t2. Also of unknown outcome, by the index of the item: 3',
		);
	});

	test.each([
		['what was held back', balance, [bought(1), ended(order(2), 'notSubmitted'), order(3)], { others: 1, unsent: 2 }],
		['not what was refused', balance, [ended(order(1), 'balance')], { others: 0, unsent: 0 }],
		['one task of two items once', balance, [bought(1, 'one'), bought(2, 'one')], { others: 1, unsent: 0 }],
		[
			'an item of unknown outcome as one that may have a task',
			gatewayError('outcomeUnknown', { thing: 'task', what: 'No answer', atMs: 0 }),
			[bought(0), ...[1, 2].map((item) => ended(order(item), 'outcomeUnknown'))],
			{ others: 2, unsent: 0 },
		],
	])('an error of a batch counts %s', (_, error, orders, rest) => {
		expect(about(error, ...orders).rest).toEqual(rest);
	});

	test.each([
		[
			balance,
			{ others: 0, unsent: 2 },
			/: tasks that exist continue, nothing is paid twice\. 2 items were not sent\.$/,
		],
		[balance, { others: 0, unsent: 0 }, /^$/],
	])('the panel of a batch names one way on, and how many were not sent: %#', (error, rest, text) => {
		expect(shown(error, {}, { rest }).panel).toMatch(text);
	});

	test('an agent reads the IDs, and of no list of executions', () => {
		const { last } = summarizeAccepted([bought(0, 'a'), bought(1, 'b', 'queued')], [], balance, {
			...place,
			isTool: true,
		});
		expect(last).toBe('Other requests of this call were accepted and are not lost. Their IDs: a, b (queued).');
	});
});
