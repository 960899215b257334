/** An error of the core: whether another try may help, and its task. */
import {
	gatewayError,
	GatewayError,
	isTransient,
	isTransientStatus,
	namingTask,
	stoppedError,
	type GatewayErrorDetails,
	type GatewayErrorKind,
} from '../../core/errors';

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
