/** The end of a task by its record, and the answers that are believed (field notes). */
import { judgeTask, type AskedFor } from '../../core/polling/taskEnd';
import { parseTaskRecord } from '../../core/records/taskRecord';
import { asGatewayError } from '../../core/errors';

const U = 'https://files.example/r.mp4';
const IN = 'https://in.example/a.png';

/** The state of the answer, or the reason why it is not believed. */
function judge(answer: object, asked: Partial<AskedFor> = {}): string {
	try {
		const judged = judgeTask(parseTaskRecord(answer, 'task-1')!, { taskId: 'task-1', ...asked });
		return judged.endedBy === undefined ? judged.state : `${judged.state} by its record`;
	} catch (thrown) {
		const { name, data } = asGatewayError(thrown).details.reason ?? {};
		return (data as { other?: string }).other ?? String(name);
	}
}

const own = { id: 'task-1' };

describe('an answer counts for the task that it names', () => {
	test.each<[string, object, string]>([
		['an envelope', { status: 'error', message: 'Database is locked' }, 'failureOfNoTask'],
		['a wrapped envelope', { success: true, data: { status: 'failed' } }, 'failureOfNoTask'],
		['the failure of another task', { id: 'task-2', status: 'failed' }, 'failureOfNoTask'],
		['an error under an unknown word', { status: 'oops', error: { message: 'w' } }, 'failureOfNoTask'],
		['an error without a word', { id: 'req-1', error: { code: 'c' } }, 'failureOfNoTask'],
		['the result of another task', { id: 'task-2', status: 'completed', url: U }, 'another task (task-2)'],
		[
			'the result of another task under an unknown word',
			{ id: 'task-2', status: 'fin', url: U },
			'another task (task-2)',
		],
		[
			'the result of another task in a request with an ID',
			{ id: 'req-1', task_id: 'task-2', status: 'completed', url: U },
			'another task (task-2)',
		],
		['its own failure', { ...own, status: 'failed' }, 'failed'],
		['its own failure by task_id', { id: 'row-9', task_id: 'task-1', status: 'failed' }, 'failed'],
		['its own failure by the wrapper', { id: 'task-1', data: { status: 'failed', fail_reason: 'w' } }, 'failed'],
		['its own failure by taskId', { taskId: 'task-1', status: 'failed' }, 'failed'],
		['its own failure in a list', { data: [{ ...own, status: 'failed' }] }, 'failed'],
		['its own failure below result', { result: { task_id: 'task-1', status: 'failed' } }, 'failed'],
		[
			'its own failure below output',
			{ output: { task_id: 'task-1', task_status: 'FAILED', code: 'DataInspectionFailed' } },
			'failed',
		],
		[
			'its own result in two wrappers',
			{ code: 200, data: { data: { ...own, status: 'completed', url: U } } },
			'completed',
		],
		[
			'its own result below task_result',
			{ code: 0, data: { task_id: 'task-1', task_status: 'succeed', task_result: { videos: [{ url: U }] } } },
			'completed',
		],
		[
			'a wrapper of another task',
			{ task_id: 'task-2', data: { status: 'completed', url: U } },
			'another task (task-2)',
		],
		['its own failure by the record', { id: 'req-1', status: 'success', data: { ...own, status: 'failed' } }, 'failed'],
		['the success of a request', { status: 'success', message: 'ok' }, 'answerLacks'],
		['the success of a request without data', { status: 'success', data: null }, 'answerLacks'],
		['an end without an ID and a result', { data: { status: 'completed', progress: 100 } }, 'answerLacks'],
		[
			'a result without an ID at an unknown place',
			{ status: 'completed', odd: { place: 'https://f.example/9' } },
			'completed',
		],
		['a result without an ID', { status: 'completed', url: U }, 'completed'],
		[
			'a result without an ID in a wrapper with one',
			{ id: 'req-1', success: true, data: { status: 'completed', url: U } },
			'completed',
		],
		['something that goes on, of whatever ID', { id: 'task-2', status: 'running' }, 'in_progress'],
	])('%s: %j is %s', (_, answer, verdict) => expect(judge(answer)).toBe(verdict));

	test('an ID that is a number is compared as text', () => {
		expect(judge({ id: 17, status: 'failed' }, { taskId: '17' })).toBe('failed');
	});

	test.each(['failed', 'completed'])('an ID that unfinished records had counts when the task has %s', (status) => {
		expect(judge({ id: 'behind-1', status, url: U }, { otherIds: ['behind-1'] })).toBe(status);
		expect(judge({ id: 'behind-2', status, url: U }, { otherIds: ['behind-1'] })).toMatch(/OfNoTask|another task/);
	});
});

describe('a known word decides, and under an unknown or missing one the record', () => {
	test.each<[object, string]>([
		[{ status: 'Succeed' }, 'completed'],
		[{ status: 'DONE', error: { message: 'w' } }, 'completed'],
		[{ status: 'Rejected', url: U }, 'failed'],
		[{ status: 'processing', url: U, progress: 100 }, 'in_progress'],
		[{ status: 'queued', error: { message: 'w' } }, 'queued'],
		[{ status: 'InProgress', url: U }, 'in_progress'],
		[{ status: 'InQueue', error: { message: 'The queue is long' } }, 'queued'],
		[{ status: 'task_finished', url: U }, 'completed by its record'],
		[{ status: 'task_finished', url: U, progress: 100 }, 'completed by its record'],
		[{ status: 'task_finished', output: { images: [U] }, progress: '100%' }, 'completed by its record'],
		[{ status: 'task_finished', result: { b64_json: 'AAAA' } }, 'completed by its record'],
		[{ status: 'task_finished', start_image: 'data:image/png;base64,AAAA' }, 'in_progress'],
		[{ status: 'task_finished', url: U, progress: 99 }, 'in_progress'],
		[{ status: 'task_finished', links: { self: U } }, 'in_progress'],
		[{ status: 'task_finished', links: { self: U }, progress: 100 }, 'completed by its record'],
		[{ status: 'task_finished', thumbnail: U, progress: 100 }, 'in_progress'],
		[{ status: 'task_finished', images: [IN], input: { image_urls: [IN] } }, 'in_progress'],
		[{ url: U }, 'completed by its record'],
		[{ progress: 40 }, 'in_progress'],
		[{}, 'answerLacks'],
		[{ status: 'broken', error: { message: 'w' } }, 'failed by its record'],
		[{ status: 'broken', error: { code: 'c' } }, 'failed by its record'],
		[{ status: 'broken', error: 'w' }, 'failed by its record'],
		[{ status: 'broken', fail_reason: 'w' }, 'failed by its record'],
		[{ error: { message: 'w' } }, 'failed by its record'],
		[{ status: 'broken', error: { message: 'w' }, url: U }, 'completed by its record'],
		[{ status: 'broken', error: null }, 'in_progress'],
		[{ status: 'broken', error: {} }, 'in_progress'],
		[{ status: 'broken', error: { code: 0, message: '' } }, 'in_progress'],
		[{ status: 'broken', error: '' }, 'in_progress'],
		[{ status: 'broken', errors: [] }, 'in_progress'],
		[{ status: 'broken', message: 'still at it' }, 'in_progress'],
		[{ status: 'cooking', error: 'null' }, 'in_progress'],
		[{ status: 'cooking', error: 'None' }, 'in_progress'],
		[{ status: 'cooking', error: false, fail_reason: 'none' }, 'in_progress'],
		[{ state: 'processing', url: U }, 'in_progress'],
	])('%j is %s', (fields, verdict) => expect(judge({ ...own, ...fields })).toBe(verdict));

	test('the kind of the task tells a result from what stands beside it', () => {
		expect(judge({ ...own, status: 'READY', content: { video_url: U } }, { kind: 'video' })).toBe(
			'completed by its record',
		);
	});

	test('the images of the request are no result', () => {
		const requestUrls = [IN];
		expect(judge({ ...own, status: 'x', images: [IN] }, { requestUrls })).toBe('in_progress');
	});

	test('a result at the path that the user has entered counts, and nothing else', () => {
		const answer = { ...own, status: 'x', url: 'https://files.example/page', odd: { place: U } };
		expect(judge(answer, { resultPath: 'odd.place' })).toBe('completed by its record');
		expect(judge(answer, { resultPath: 'even.place' })).toBe('in_progress');
	});

	test.each([
		[{ error: { message: 'w', code: 'c' } }, { message: 'w', code: 'c' }],
		[{ error: null }, undefined],
	])('a completed record has its result, and the error beside it: %j', (fields, errorBeside) => {
		const record = parseTaskRecord({ ...own, status: 'completed', url: U, ...fields })!;
		expect(judgeTask(record, { taskId: 'task-1' })).toMatchObject({ state: 'completed', refusal: {} });
		expect(judgeTask(record, { taskId: 'task-1' }).errorBeside).toEqual(errorBeside);
	});
});
