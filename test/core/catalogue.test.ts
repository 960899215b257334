/** The catalogue of reasons: its texts and its flags say the same. */
import { gatewayError, retryContinues } from '../../core/errors';
import { REASONS, toCode, type Reason } from '../../core/errors/catalogue';
import { describe as describeError } from '../../core/errors/describe';

const reasons = Object.keys(REASONS) as Reason[];
/** Of a task, and otherwise "x" for everything. */
const data = new Proxy({}, { get: (_, name) => (name === 'thing' ? 'task' : 'x') }) as never;

test.each(reasons)('%s: where its advice is a retry that continues the task, it does', (reason) => {
	const error = gatewayError(reason, data);
	const advice = describeError(error, { operation: 'generate', recovery: 'retry' });
	expect(retryContinues(error)).toBe(/continues the task|does not buy it again/.test(advice));
});

const SHARED_CODES = {
	tokenNameRefused: 'token_name_too_long',
	taskDeclined: 'content_declined',
	refusedInBetween: 'service_unavailable',
	failureOfNoTask: 'no_task_status',
	recordOfOtherTask: 'no_task_status',
};

test('a code is the name of its reason, except where two reasons have one code', () => {
	expect(toCode('balanceTooLow')).toBe('balance_too_low');
	const [shared, own] = [true, false].map((is) => reasons.filter((reason) => reason in SHARED_CODES === is));
	expect(Object.fromEntries(shared.map((reason) => [reason, toCode(reason)]))).toEqual(SHARED_CODES);
	expect(new Set(own.map(toCode)).size).toBe(own.length);
});

test('what is permanent is so wherever it happens, unless it is said to be open', () => {
	expect(gatewayError('requestRejected', {}).details.permanent).toBe(true);
	expect(gatewayError('requestRejected', {}, { permanent: false }).details.permanent).toBe(false);
	expect(gatewayError('keyRefused', {}).details.permanent).toBeUndefined();
	expect(gatewayError('keyRefused', {}, { permanent: true }).details.permanent).toBe(true);
});
