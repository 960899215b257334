/** An error of the core: the consequences of its kind, its code, its task, and the order of its words. */
import {
	codeOf,
	gatewayError,
	GatewayError,
	isTransient,
	isTransientStatus,
	namingTask,
	stoppedError,
	type GatewayErrorDetails,
	type GatewayErrorKind,
} from '../../core/errors';
import { entryOf, toCode } from '../../core/errors/catalogue';
import { describe as describeError } from '../../core/errors/describe';
import type { Situation } from '../../core/errors/entry';
import {
	advisesRetry,
	endsSubmitting,
	endsTheSame,
	isOwn,
	passesByItself,
	refusesAccess,
	sparesBatch,
} from '../../core/errors/kinds';

const CONSEQUENCES: Record<GatewayErrorKind, string> = {
	badInput: '',
	authentication: 'ends submitting, refuses access',
	balance: 'ends submitting, refuses access',
	permission: 'refuses access',
	notFound: '',
	rejected: 'ends the same',
	contentPolicy: 'ends the same',
	rateLimited: 'passes, advises retry',
	unavailable: 'passes, advises retry',
	unreachable: 'passes, advises retry',
	unexpectedAnswer: '',
	outcomeUnknown: 'advises retry',
	notShown: 'advises retry, spares batch',
	taskFailed: 'ends the same if permanent',
	taskTimedOut: '',
	noResult: 'ends the same if permanent',
	download: 'ends the same if permanent',
	notSubmitted: 'of others',
	stopped: 'of others',
	ownMistake: 'ends the same',
};

test.each([...Object.entries(CONSEQUENCES), ['ofAnotherVersion', '']])(
	'the consequences of an error of the kind %s are "%s"',
	(kind, consequences) => {
		const error = { kind: kind as GatewayErrorKind };
		const ends = [{}, { permanent: false }, { permanent: true }].map((details) => endsTheSame({ ...error, details }));
		const found = {
			passes: passesByItself(error),
			'advises retry': advisesRetry(error),
			'ends submitting': endsSubmitting(error),
			'refuses access': refusesAccess(error),
			'of others': !isOwn(error),
			'spares batch': sparesBatch(error),
			'ends the same': ends[0],
			'ends the same if permanent': !ends[0] && ends[2],
		};
		expect(ends[1]).toBe(ends[0]);
		const all = Object.entries(found).filter(([, is]) => is !== false);
		expect(all.map(([name, is]) => (is === true ? name : `${name}: ${is}`)).join(', ')).toBe(consequences);
	},
);

test('a read may get a better answer later after a redirect, a timeout, too many requests or a fault of the service', () => {
	const all = Array.from({ length: 500 }, (_, index) => index + 100);
	const transient = all.filter(isTransientStatus);
	expect(transient).toEqual(all.filter((status) => /^(3..|408|429|5..)$/.test(String(status))));
});

test.each<[GatewayErrorKind, GatewayErrorDetails, boolean]>([
	['unavailable', {}, true],
	['notFound', {}, false],
	['notFound', { httpStatus: 404 }, false],
	['notFound', { httpStatus: 503 }, true],
	['notFound', { httpStatus: 200 }, false],
	['unexpectedAnswer', { httpStatus: 200, permanent: true }, true],
	['unexpectedAnswer', { httpStatus: 400 }, false],
	['rejected', { httpStatus: 200 }, true],
	['rejected', { httpStatus: 200, permanent: true }, false],
	['rejected', { httpStatus: 400 }, false],
])('a read that ended as %s with %j may end otherwise a moment later: %s', (kind, details, is) => {
	expect(isTransient(new GatewayError(kind, 'x', details))).toBe(is);
});

test('an error has the code of its reason, or else of its kind', () => {
	expect(codeOf(gatewayError('tokenNameRefused', {}))).toBe('token_name_too_long');
	expect(codeOf(new GatewayError('taskFailed', 'x'))).toBe('task_failed');
	expect(toCode('fromAnotherVersion')).toBe('from_another_version');
});

test('only reasons of this version have an entry', () => {
	expect([entryOf('timedOut')?.kind, entryOf('toString'), entryOf(undefined)]).toEqual([
		...['taskTimedOut', undefined, undefined],
	]);
});

test('what is permanent is so wherever it happens, unless it is said to be open', () => {
	expect(gatewayError('requestRejected', {}).details.permanent).toBe(true);
	expect(gatewayError('requestRejected', {}, { permanent: false }).details.permanent).toBe(false);
	expect(gatewayError('keyRefused', {}).details.permanent).toBeUndefined();
});

const task = { taskId: 'task-7', status: 'queued', elapsedMs: 5 };

test('an error names its task once, and keeps what it knew', () => {
	const error = gatewayError('keyRefused', {}, { httpStatus: 401, cause: new Error('why') });
	const named = error.withTask(task);
	expect(named.message).toBe(`${error.message} (task task-7)`);
	expect(named.withTask(task).message).toBe(named.message);
	expect(named.details).toEqual({ ...error.details, task });
});

test('any end of the work on a task names it, except a stop', async () => {
	const stopped = stoppedError();
	await expect(namingTask(task, Promise.reject(stopped))).rejects.toBe(stopped);
	await expect(namingTask(task, Promise.reject(new TypeError('odd')))).rejects.toMatchObject({
		kind: 'ownMistake',
		message: expect.stringMatching(/: TypeError: odd \(task task-7\)$/) as string,
		task,
	});
});

const told = (reason: 'serviceUnavailable' | 'requestRejected' | 'outcomeUnknown', details: GatewayErrorDetails = {}) =>
	gatewayError(reason, { thing: 'task', what: 'No answer' }, { httpStatus: 500, ...details });
const words = { serviceMessage: 'out of order', serviceCode: 'e7' };
const declined: GatewayErrorDetails = { serviceReason: { name: 'contentDeclined', data: {} } };
const failed = (details: GatewayErrorDetails) =>
	gatewayError('taskFailed', { id: 'task-7', status: 'failed' }, details);
const twoMistakes = gatewayError(
	'notAUrl',
	{ label: 'A', value: '1' },
	{ others: [gatewayError('notText', { label: 'B', value: '2' })] },
);

test.each<[string, GatewayError, RegExp]>([
	[
		'the advice, then the service',
		told('serviceUnavailable', words),
		/^This is .* "out of order", code e7 \(HTTP 500\)\.$/,
	],
	[
		'the service first, where it gives the reason',
		told('requestRejected', words),
		/^The service says: .*\. Compare .*\.$/,
	],
	['a code without words', told('serviceUnavailable', { serviceCode: 'e7' }), / returned the code e7 \(HTTP 500\)\.$/],
	['no status that the advice has said', told('outcomeUnknown', words), / "out of order", code e7\.$/],
	['no status of another host', new GatewayError('download', 'x', { httpStatus: 404 }), /^$/],
	['that nothing was sent', new GatewayError('badInput', 'x', words), /^Nothing was sent\.$/],
	['all that is wrong', twoMistakes, / Nothing was sent\. Also: B is 2, .*\. Change B to text\.$/],
	['another try', failed(declined), /^Change the prompt .*\. To try again, retry .*pay again\.$/],
	['no other try where it ends the same', failed({ ...declined, permanent: true }), /^Change the prompt [^.]*\.$/],
	[
		'a long text of the service up to 500 characters',
		told('requestRejected', { serviceMessage: 'x'.repeat(501) }),
		/"x{500}…"/,
	],
])('the text below a message says %s', (_, error, text) => {
	expect(describeError(error, { operation: 'generate' })).toMatch(text);
});

const atMs = Date.UTC(2026, 0, 31, 14, 5);
const unknown = gatewayError('outcomeUnknown', { thing: 'task', what: 'No answer', atMs });
test.each<[string, GatewayError, Partial<Situation>, string]>([
	[
		'when the task may have been created',
		unknown,
		{},
		'a task created around 14:05 UTC. If there is none, turn on Submit',
	],
	[
		'how many items are unclear',
		unknown,
		{ unclear: 2 },
		'no tasks of around 14:05 UTC for these 3 items, turn on Submit',
	],
	[
		'how the rest goes on',
		unknown,
		{ others: 2, unsubmitted: 1 },
		': the 2 other tasks continue and cost nothing, and 1 item is',
	],
	[
		'what stays unclear',
		told('outcomeUnknown'),
		{ others: 1, unclear: 1 },
		'If your account has no tasks of that time for these 2',
	],
	[
		'a retry with the others',
		gatewayError('timedOut', { thing: 'task', id: '7', after: '1 min' }),
		{ others: 2 },
		'and the 2 others,',
	],
	[
		'that the others are not lost',
		told('serviceUnavailable'),
		{ others: 1 },
		'later: the other task continues and costs nothing.',
	],
	['what n8n offers to an item', unknown, { recovery: 'runAgain' }, 'If there is none, run only this item again.'],
	['what an agent can do', unknown, { recovery: 'callAgain' }, 'If there is none, call this tool again.'],
])('the advice says %s', (_, error, situation, words) => {
	expect(describeError(error, { operation: 'generate', ...situation })).toContain(words);
});
