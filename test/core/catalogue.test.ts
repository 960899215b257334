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

test('a code is the name of its reason, except where two reasons have one code', () => {
	expect(toCode('balanceTooLow')).toBe('balance_too_low');
	expect(reasons.map((reason) => [toCode(reason), reason]).filter(([code]) => code === 'token_name_too_long')).toEqual([
		['token_name_too_long', 'tokenNameTooLong'],
		['token_name_too_long', 'tokenNameRefused'],
	]);
	expect(new Set(reasons.map(toCode)).size).toBe(reasons.length - 1);
});

test('what is permanent is so wherever it happens, unless it is said to be open', () => {
	expect(gatewayError('requestRejected', {}).details.permanent).toBe(true);
	expect(gatewayError('requestRejected', {}, { permanent: false }).details.permanent).toBe(false);
	expect(gatewayError('keyRefused', {}).details.permanent).toBeUndefined();
	expect(gatewayError('keyRefused', {}, { permanent: true }).details.permanent).toBe(true);
});
