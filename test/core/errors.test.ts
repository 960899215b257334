/** An error of the core: the consequences of its kind, its code and its task. */
import {
	asGatewayError,
	codeOf,
	gatewayError,
	GatewayError,
	isTransient,
	isTransientStatus,
	namingTask,
	retryContinues,
	stoppedError,
	type GatewayErrorDetails,
	type GatewayErrorKind,
} from '../../core/errors';
import { entryOf, toCode } from '../../core/errors/catalogue';
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

test.each<[boolean, GatewayErrorDetails]>([
	[true, { reason: { name: 'downloadFailed', data: { id: 'x', what: 'x', urls: 'x' } } }],
	[false, { reason: { name: 'keyRefused', data: {} } }],
	[false, { reason: { name: 'ofAnotherVersion', data: {} } as never }],
	[false, {}],
])('a retry continues (%s) after an error with %j', (continues, details) => {
	expect(retryContinues(new GatewayError('stopped', 'x', details))).toBe(continues);
});

const task = { taskId: 'task-7', status: 'queued', elapsedMs: 5 };

test('an error names its task once, keeps what it knew, and has the task as its own', () => {
	const cause = new Error('why');
	const error = gatewayError('keyRefused', {}, { httpStatus: 401, cause });
	const own = { ...task };
	const named = error.withTask(own);
	own.taskId = 'other';
	expect(named.message).toBe(`${error.message} (task task-7)`);
	expect(named.withTask(task).message).toBe(named.message);
	expect(named.details).toEqual({ ...error.details, task });
	expect([named.name, named.kind, named.task, named.cause]).toEqual(['GatewayError', 'authentication', task, cause]);
	expect(error.task).toBeUndefined();
});

test('an error has the time of its request beside what it knew, if it has a reason that can name it', () => {
	const error = gatewayError('outcomeUnknown', { thing: 'task', what: 'No answer' }, { httpStatus: 504 });
	const { kind, message, details } = error.at(1_000);
	expect([kind, message]).toEqual([error.kind, error.message]);
	expect(details).toEqual({
		...error.details,
		reason: { name: 'outcomeUnknown', data: { thing: 'task', what: 'No answer', atMs: 1_000 } },
	});
	const withoutReason = new GatewayError('rejected', 'x');
	expect(withoutReason.at(1_000)).toBe(withoutReason);
});

test('a stop that meets a task has the task as its own, and one before it has none', () => {
	const own = { ...task };
	const stopped = stoppedError(own);
	own.taskId = 'other';
	expect([stopped.kind, stopped.task, stoppedError().task]).toEqual(['stopped', task, undefined]);
});

test('whatever ends the work on a task names it, except a stop', async () => {
	const stopped = stoppedError();
	expect(await namingTask(task, Promise.resolve(7))).toBe(7);
	await expect(namingTask(task, Promise.reject(stopped))).rejects.toBe(stopped);
	await expect(namingTask(task, Promise.reject(new TypeError('odd')))).rejects.toMatchObject({
		kind: 'ownMistake',
		message: expect.stringMatching(/TypeError: odd \(task task-7\)$/) as string,
		task,
	});
});

test('what is no error of the core is a bug of this package, told in the words that were thrown', () => {
	const error = gatewayError('keyRefused', {});
	const thrown = new RangeError('too far');
	expect(asGatewayError(error)).toBe(error);
	expect(asGatewayError(thrown)).toMatchObject({ kind: 'ownMistake', cause: thrown });
	expect(asGatewayError(thrown).message).toMatch(/: RangeError: too far$/);
	expect(asGatewayError('a text').message).toMatch(/: a text$/);
});
