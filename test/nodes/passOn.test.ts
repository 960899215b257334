/** The fields of an input item that the output passes on. */
import { toPassOn } from '../../nodes/run/output';

const OF_AN_ERROR = { code: 1, details: 2, http_status: 3 };
const OF_A_TASK = {
	...{ url: 1, urls: 2, download_url: 3, download_urls: 4, record: 5, status: 6, reason: 7, progress: 8, timed_out: 9 },
	...{ waited_seconds: 10, created_at: 11, expires_at: 12, model: 13, reused: 14, earlier_task_ids: 15 },
	execution_id: 16,
};
const KEPT = { mine: 'kept' };

test('fields of the input are passed on as they are, but for those that n8n would take for an error', () => {
	const input = { ...KEPT, ...OF_AN_ERROR, ...OF_A_TASK, task_id: 'other' };
	expect(toPassOn(input)).toEqual(input);
	expect(toPassOn({ ...KEPT, $error: 'x' })).toEqual(KEPT);
});

test('an error of an earlier try is not passed on, with all that came with it', () => {
	expect(toPassOn({ ...KEPT, ...OF_AN_ERROR, error: 'x' })).toEqual(KEPT);
});

test('where the output describes a task, nothing that the input says of another one is passed on', () => {
	expect(toPassOn({ ...KEPT, ...OF_A_TASK, task_id: 'other' }, true)).toEqual(KEPT);
	expect(toPassOn({ ...KEPT, ...OF_A_TASK, ...OF_AN_ERROR }, true)).toEqual({ ...KEPT, ...OF_A_TASK, ...OF_AN_ERROR });
	expect(toPassOn({ ...KEPT, ...OF_A_TASK, ...OF_AN_ERROR, task_id: 'other', error: 'x' }, true)).toEqual(KEPT);
});
