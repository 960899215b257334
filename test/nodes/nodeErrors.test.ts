/** n8n's error of an error of the core: what stands in the message, in the panel of five lines, and under Error details. */
import { NodeApiError, NodeOperationError } from 'n8n-workflow';
import { gatewayError, GatewayError } from '../../core/errors';
import { recoveryOf, toNodeError, type BatchSummary, type ErrorContext } from '../../nodes/errors/toNodeError';
import { unreadable } from '../../nodes/errors/unreadable';
import { NODE as node } from '../support/lightContext.mts';

const FIVE_LINES = 285;
const SEE_DETAILS = 'IDs: see Error details.';

const made = (error: GatewayError, context: Partial<ErrorContext> = {}, run?: BatchSummary) =>
	toNodeError(error, { node, itemIndex: 3, ...context }, run);
const panel = (...given: Parameters<typeof made>) => made(...given).description ?? '';
/** With the words of the service after the advice, and before it. */
const unavailable = (serviceMessage?: string) =>
	gatewayError('serviceUnavailable', {}, { serviceMessage, httpStatus: 503 });
const rejected = (serviceMessage?: string) => gatewayError('requestRejected', {}, { serviceMessage, httpStatus: 400 });
const withoutReason = (serviceMessage?: string) => new GatewayError('taskFailed', 'It failed', { serviceMessage });
const ofAnotherVersion = (serviceMessage?: string) =>
	new GatewayError('taskFailed', 'It failed', { serviceMessage, reason: { name: 'new', data: {} } as never });
/** Without advice: the panel holds what is said of the run, and no more. */
const silent = new GatewayError('stopped', 'It ended');

test.each([
	[{}, 'retry'],
	[{ isItem: true }, 'runAgain'],
	[{ isTool: true }, 'callAgain'],
	[{ isTool: true, isItem: true }, 'callAgain'],
])('the way on of an error with %j is %s', (context, recovery) => {
	expect(recoveryOf(context)).toBe(recovery);
});

test('a mistake in a form is an operation error of n8n, which names its item', () => {
	const error = made(gatewayError('notText', { label: 'Prompt', value: '7' }));
	expect(error).toBeInstanceOf(NodeOperationError);
	expect(error).toMatchObject({
		message: 'Prompt is 7, which is not text',
		description: 'Change Prompt to text. Nothing was sent.',
		context: { itemIndex: 3 },
		failure: { cause: 'configuration-invalid' },
	});
});

test.each([
	[503, '503'],
	[undefined, null],
])('an answer with the status %p is an API error of n8n with the code %p', (httpStatus, httpCode) => {
	const error = made(gatewayError('serviceUnavailable', {}, { httpStatus }));
	expect(error).toBeInstanceOf(NodeApiError);
	expect(error).toMatchObject({
		httpCode,
		message: 'The service is not available at the moment',
		description: expect.stringMatching(/^This is usually temporary\. Try again later\./) as string,
		messages: ['The service is not available at the moment'],
		context: { itemIndex: 3 },
		failure: { cause: 'temporarily-unavailable' },
	});
});

test.each<[string, Partial<ErrorContext>, BatchSummary, RegExp]>([
	['the operation', { operation: 'generate' }, {}, / Retry this execution .* later\./],
	[
		'an execution that another workflow has called',
		{ operation: 'generate', subExecution: '77' },
		{},
		/ Retry execution 77 of this workflow /,
	],
	['an item that goes on', { operation: 'generate', isItem: true }, {}, / Run only this item again later\./],
	['the others of the run', { operation: 'generate' }, { rest: { others: 2 } }, /: the 2 other tasks continue /],
])('the advice in the panel is for %s', (_, context, run, text) => {
	expect(panel(unavailable(), context, run)).toMatch(text);
});

test('an agent, which reads only the message, finds the panel in it', () => {
	const { message, description } = made(rejected('no'), { isTool: true });
	expect(message).toBe(`The service did not accept the request. ${description}`);
	expect(made(silent, { isTool: true }).message).toBe('It ended');
});

test('an agent gets all words of the service', () => {
	expect(made(rejected('x'.repeat(400)), { isTool: true }).message).toContain('x'.repeat(400));
});

test('nothing of an error is taken for HTML', () => {
	const error = made(new GatewayError('taskFailed', 'a <b>', { serviceMessage: '<i>' }), {}, { details: '<u>' });
	expect([error.message, error.description, error.messages.at(-1)]).toEqual([
		'a ‹b›',
		'The service says: "‹i›".',
		'‹u›',
	]);
});

/** Words of the service with which the panel has this length. */
const wordsFor = (length: number, make: typeof rejected) => 'x'.repeat(length - panel(make('x')).length + 1);

test.each([
	['before the advice', rejected],
	['after it', unavailable],
])(
	'words of the service %s are cut where they make the panel too long, and are then under Error details',
	(_, make) => {
		const [fits, longer] = [wordsFor(FIVE_LINES, make), wordsFor(FIVE_LINES + 1, make)];
		const { messages, message, description } = made(make(fits));
		expect(description).toContain(`"${fits}" (HTTP `);
		expect(description).toHaveLength(FIVE_LINES);
		expect(messages).toEqual([message]);
		for (const [words, shown] of [
			[longer, `"${longer}".`],
			['x'.repeat(400), 'x…".'],
		] as const) {
			const error = made(make(words), {}, { details: 'IDs: a, b' });
			expect(error.description).toContain(shown);
			expect(error.messages.slice(1)).toEqual([
				expect.stringMatching(new RegExp(`^The service says: "${words}" \\(HTTP [45]..\\)\\.$`)) as string,
				'IDs: a, b',
			]);
		}
		expect(panel(make('x'.repeat(400)))).toHaveLength(FIVE_LINES);
		expect(made(make('x'.repeat(6_000))).messages.at(-1)).toContain(`"${'x'.repeat(5_000)}…"`);
	},
);

test.each([
	['are left out where they are not the cause', unavailable, 0, /^[^"]*$/],
	['are cut to 40 characters where they are the cause', rejected, 0, /"x{40}…"/],
	['stay with 40 characters where there is just room for them', unavailable, 1, /"x{40}…"/],
	['are left out where nobody knows the reason', withoutReason, 0, /^[^"]*$/],
	['are left out where only another version knows the reason', ofAnotherVersion, 0, /^[^"]*$/],
])('in a panel that is long without them, words of the service %s', (_, make, room, text) => {
	const withForty = panel(make('x'.repeat(40))).replace(/ \(HTTP \d+\)/, '').length + 2;
	const last = 'y'.repeat(FIVE_LINES - withForty + 1 - room);
	expect(panel(make('x'.repeat(400)), {}, { last })).toMatch(text);
	expect(panel(make('x'.repeat(400)), {}, { last })).toMatch(/(^| )y+$/);
});

const idsAfter = (words: number, ids: string[]) =>
	panel(silent, {}, { last: 'y'.repeat(words), ids: { label: 'Other tasks', ids } }).slice(words);

test.each([
	['one', 5, ['a'], ' Other tasks: a.'],
	['three', 5, ['a', 'b', 'c'], ' Other tasks: a, b, c.'],
	['three of five', 5, ['a', 'b', 'c', 'd', 'e'], ' Other tasks: a, b, c and 2 more, under Error details.'],
	[
		'as many as there is room for',
		FIVE_LINES - 50,
		['a', 'b'.repeat(40), 'c'],
		' Other tasks: a and 2 more, under Error details.',
	],
	['one that just fits', FIVE_LINES - 16, ['a'], ' Other tasks: a.'],
	['none that does not fit', FIVE_LINES - 15, ['a'], ` ${SEE_DETAILS}`],
	['none of two that are too long', 5, ['a'.repeat(300), 'b'.repeat(300)], ` ${SEE_DETAILS}`],
])('at its end, the panel names IDs of the run: %s', (_, words, ids, text) => {
	expect(idsAfter(words, ids)).toBe(text);
});

test('where the panel ends with IDs, the words of the service leave them room', () => {
	const run = { ids: { label: 'Other tasks', ids: ['a'.repeat(300)] } };
	for (const make of [rejected, unavailable]) {
		const words = wordsFor(FIVE_LINES - SEE_DETAILS.length - 1, make);
		expect(panel(make(words), {}, run)).toHaveLength(FIVE_LINES);
		expect(panel(make(words), {}, run)).toContain(`"${words}" (HTTP`);
		expect(panel(make(`${words}x`), {}, run)).toContain(`"${words}x".`);
		expect(panel(make('x'.repeat(400)), {}, run)).toHaveLength(FIVE_LINES);
	}
});

test('the words of n8n about a form that it could not read become the error', () => {
	const known = gatewayError('keyRefused', {});
	const thrown = Object.assign(new Error('No such field'), { description: 'Look at the expression.' });
	const error = unreadable(thrown);
	expect(unreadable(known)).toBe(known);
	expect(error).toMatchObject({ kind: 'badInput', message: 'No such field', cause: thrown });
	expect(panel(error)).toBe('Look at the expression. Nothing was sent.');
});
