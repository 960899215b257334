/** The errors of a generation task that has failed or has no result. */
import { codeOf } from '../../core/errors';
import { describe as explainIn } from '../../core/errors/describe';
import { retryOf } from '../../core/orders/states';
import { parseTaskRecord, type TaskRecord } from '../../core/records/taskRecord';
import { failedTask, missingResult } from '../../core/orders/taskErrors';
import { manyFields } from './support';

const record = (fields: Record<string, unknown>) => parseTaskRecord({ id: 'task-1', ...fields }) as TaskRecord;

describe('a task that has failed', () => {
	test('a task that has failed with invalid_request says why, and that the same request would fail again', () => {
		const error = failedTask('task-1', record({ status: 'failed', error: { code: 'invalid_request', message: 'w' } }));
		expect(error.details).toMatchObject({ permanent: true, serviceReason: { name: 'requestRejected' } });
	});

	test.each([
		['sensitive_words_detected', 'w'],
		['InputImageSensitiveContentDetected', 'w'],
		['content_policy_violation', 'w'],
		['content-blocked', 'w'],
		['content_filter', 'w'],
		[undefined, 'Your request was rejected by our safety system.'],
		[undefined, 'The prompt violates our content policy'],
		['400', '内容包含敏感信息'],
		['generation_failed', 'Sensitive content in the image'],
	])('a task that was declined for its content (code %s, "%s") would be declined again', (code, message) => {
		const error = failedTask('task-1', record({ status: 'failed', error: { code, message } }));
		expect([codeOf(error), error.kind, error.details.permanent]).toEqual(['content_declined', 'taskFailed', true]);
	});

	test.each([
		['moderation_timeout', 'w'],
		['safety_service_unavailable', 'w'],
		['rate_limit_policy', 'w'],
		['insensitive', 'w'],
		['out_of_paint', 'The prompt violates our content policy'],
		[undefined, 'The moderation timed out, try again'],
		[undefined, 'out of paint'],
	])('a task that has failed with code %s and "%s" may go well later', (code, message) => {
		const error = failedTask('task-1', record({ status: 'failed', error: { code, message } }));
		expect([codeOf(error), error.details.permanent]).toEqual(['task_failed', undefined]);
	});

	test('a task that has failed for want of credits says so, and a retry creates it again once there are some', () => {
		const error = failedTask(
			'task-1',
			record({ status: 'failed', error: { code: 'insufficient_quota', message: 'w' } }),
		);
		expect(error.details).toMatchObject({ permanent: undefined, serviceReason: { name: 'balanceTooLow' } });
		expect(retryOf({ as: 'failed', error })).toBe('submits');
		expect(explainIn(error, { operation: 'generate' })).toMatch(
			/Add credits to the account\. .* To try again, retry this execution in the Executions list: that creates a new task, and you pay again\./,
		);
	});
});

describe('a finished task without a result', () => {
	const known = {
		id: 'task-1',
		object: 'generation.task',
		model: 'm',
		status: 'completed',
		progress: 100,
		created_at: 5,
	};

	test('of a finished task without a result only those fields are read that there is room for', () => {
		const { fields, seen } = manyFields(20_000);
		missingResult('task-1', { ...record(known), raw: fields }, 5_000);
		expect(seen.read).toBeLessThanOrEqual(200);
	});

	test('what looks like a key is masked in the record that is shown', () => {
		const fields = { ...known, note: 'made with sk-0123456789_ab', 'sk-0123456789-cd': [['sk-0123456789ef']] };
		const error = missingResult('task-1', record(fields), 5_000);
		expect(explainIn(error)).toMatch(/The record: \{ "note": "made with sk-…", "sk-…": \[ \[ "sk-…" \] \] \}$/);
	});
});
