/** The text below the message of an error: the advice, and the words of the service. */
import { gatewayError, GatewayError, type GatewayErrorDetails } from '../../core/errors';
import type { ErrorReason } from '../../core/errors/catalogue';
import { describe as describeError, quoteService } from '../../core/errors/describe';
import type { Situation } from '../../core/errors/entry';

/** An error with the words of the service. */
const told = (reason: 'serviceUnavailable' | 'requestRejected' | 'outcomeUnknown', details: GatewayErrorDetails = {}) =>
	gatewayError(reason, { thing: 'task', what: 'No answer' }, { httpStatus: 500, ...details });
const words = { serviceMessage: 'out of order', serviceCode: 'e7' };
const failed = (details: GatewayErrorDetails = {}) =>
	gatewayError('taskFailed', { id: 'task-7', status: 'failed' }, details);
const declined: ErrorReason = { name: 'contentDeclined', data: {} };
const downloaded = (details: GatewayErrorDetails) => new GatewayError('download', 'x', details);

test.each<[string, GatewayError, Partial<Situation>, RegExp]>([
	[
		'the advice first',
		told('serviceUnavailable', words),
		{},
		/^This is .* Try again later\. The service says: "out of order", code e7 \(HTTP 500\)\.$/,
	],
	[
		'a retry of the execution',
		told('serviceUnavailable'),
		{ operation: 'getTask' },
		/ Retry this execution .*\. The server answered 500\.$/,
	],
	[
		'the service first, where it gives the reason',
		told('requestRejected', words),
		{},
		/^The service says: .*\. Compare .*\.$/,
	],
	[
		'the code alone',
		told('serviceUnavailable', { serviceCode: 'e7' }),
		{},
		/ The service returned the code e7 \(HTTP 500\)\.$/,
	],
	[
		'the words without a code',
		told('serviceUnavailable', { serviceMessage: 'out' }),
		{},
		/ The service says: "out" \(HTTP 500\)\.$/,
	],
	[
		'no status that the advice has said',
		told('outcomeUnknown', words),
		{},
		/ The service says: "out of order", code e7\.$/,
	],
	['no status of another host', downloaded({ httpStatus: 404 }), {}, /^$/],
	['nothing of what nobody has said', new GatewayError('rejected', 'x'), {}, /^$/],
	[
		'that nothing was sent',
		new GatewayError('badInput', 'x', { ...words, httpStatus: 400 }),
		{},
		/^Nothing was sent\.$/,
	],
	[
		'that nothing was bought, once',
		gatewayError('purchaseKeyConflict', { execution: '5', time: '2026-01-31T14:05' }),
		{},
		/^(?!.*Nothing was sent).*Nothing was bought now\. [^!]* another Purchase Key\.$/,
	],
	[
		'all that is wrong',
		gatewayError(
			'notAUrl',
			{ label: 'A', value: '1' },
			{ others: [gatewayError('notText', { label: 'B', value: '2' })] },
		),
		{},
		/ Nothing was sent\. Also: B is 2, .*\. Change B to text\.$/,
	],
	['a task that another one can replace', failed(), { operation: 'generate' }, /^To try again, retry .*pay again\.$/],
	[
		'that an agent can try again',
		failed(),
		{ operation: 'generate', recovery: 'callAgain' },
		/^To try again, call this tool again.*pay again\.$/,
	],
	[
		'a reason of the service, and another try',
		failed({ serviceReason: declined }),
		{ operation: 'generate' },
		/^Change the prompt .*\. To try again, retry .*pay again\.$/,
	],
	[
		'no other try where it ends the same',
		failed({ serviceReason: declined, permanent: true }),
		{},
		/^Change the prompt [^.]*\.$/,
	],
	[
		'no other try of an agent',
		failed({ serviceReason: declined }),
		{ recovery: 'callAgain' },
		/^Change the prompt [^.]*\.$/,
	],
	[
		'the others of a batch, where the reason has no advice',
		failed({ serviceReason: declined }),
		{ operation: 'generate', others: 2 },
		/^To try again, .* the 2 other tasks /,
	],
])('the text below a message says %s', (_, error, situation, text) => {
	expect(describeError(error, situation)).toMatch(text);
});

test.each<[string, GatewayErrorDetails, number, RegExp]>([
	['cut, without code and status', words, 6, /\. The service says: "out of…"\.$/],
	['left out', words, 0, /later\.$/],
	['left out where there are none', { serviceCode: 'e7' }, 6, /later\.$/],
])('where there is less room, the words of the service are %s', (_, details, length, text) => {
	expect(describeError(told('serviceUnavailable', details), {}, length)).toMatch(text);
});

test('no space is left where there is no advice on another error', () => {
	const others = [gatewayError('executionStopped', {})];
	const text = describeError(told('serviceUnavailable', { others, httpStatus: undefined }), {});
	expect(text).toMatch(/later\. Also: The execution was stopped\.$/);
});

test('a long text of the service is quoted up to 500 characters, or as long as there is room', () => {
	const details = { serviceMessage: 'x'.repeat(501) };
	expect(quoteService('rejected', details)).toBe(`The service says: "${'x'.repeat(500)}…".`);
	expect(quoteService('rejected', details, 501)).toBe(`The service says: "${'x'.repeat(501)}".`);
});
