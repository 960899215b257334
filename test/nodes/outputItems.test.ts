/** The fields of an output item, and their order: first what the user came for, lists and times last. */
import type { IDataObject } from 'n8n-workflow';
import { GatewayError } from '../../core/errors';
import { toPassOn, itemsOf, markForErrorOutput, type OnError, type Outcome } from '../../nodes/run/toItem';

const items = (outcome: Outcome, onError: OnError = 'stopWorkflow') =>
	itemsOf(outcome, 2, onError, { operation: 'generate', isTool: false });
const item = (outcome: Outcome, onError?: OnError) => items(outcome, onError)[0];
const namesIn = (json: unknown) => Object.keys(json as IDataObject);

const task = { url: 'u', task_id: 'a', status: 'completed', urls: ['u'], waited_seconds: 1, created_at: 'c' };
const last = ['urls', 'waited_seconds', 'created_at'];

test.each<[string, Outcome, string[]]>([
	['a task of Generate', { prompt: 'p' }, ['url', 'prompt', 'task_id', 'status', ...last]],
	['a task of somebody else', {}, ['url', 'task_id', 'status', ...last]],
	[
		'one with more to tell',
		{ prompt: 'p', input: { pass_along: {} }, earlierTaskIds: ['b'] },
		['url', 'prompt', 'task_id', 'status', 'pass_along', 'earlier_task_ids', ...last],
	],
])('the order of the fields of %s', (_, more, names) => {
	const { json, pairedItem } = item({ output: { json: task }, ...more });
	expect(namesIn(json)).toEqual(names);
	expect(pairedItem).toEqual({ item: 2 });
});

test('a task without a URL begins with its prompt', () => {
	expect(namesIn(item({ output: { json: { task_id: 'a' } }, prompt: 'p' }).json)).toEqual(['prompt', 'task_id']);
});

const failed = {
	...{ error: new GatewayError('taskFailed', 'x'), task: { taskId: 'a', elapsedMs: 0 } },
	...{ prompt: 'p', input: { pass_along: 1 } },
};

test('an error item has the prompt and what was passed along, with an error output among its details', () => {
	const regular = item(failed, 'continueRegularOutput').json;
	expect(regular).toMatchObject({ prompt: 'p', pass_along: 1, task_id: 'a' });
	const { details, ...others } = item(failed, 'continueErrorOutput').json;
	expect(namesIn(others)).toEqual(['error', 'message']);
	expect(details).toMatchObject({ prompt: 'p', pass_along: 1, task_id: 'a' });
});

const ofTask = { task_id: 'a', status: 'completed', waited_seconds: 1 };
const several = { url: 'u0', ...ofTask, urls: ['u0', 'u1'] };
const links = { download_url: 'd0', download_urls: ['d0', 'd1'] };
const [f0, f1] = [{ id: 'f0' }, { id: 'f1' }];

test.each<[string, Outcome, unknown[]]>([
	[
		'each file, with the task, the prompt, its URL, its link and its file',
		{ prompt: 'p', output: { json: { ...several, ...links }, binary: { picture: f0, picture_1: f1 } } },
		[
			{ json: { url: 'u0', prompt: 'p', download_url: 'd0', ...ofTask }, binary: { picture: f0 } },
			{ json: { url: 'u1', prompt: 'p', download_url: 'd1', ...ofTask }, binary: { picture: f1 } },
		],
	],
	[
		'each URL, where there are no files',
		{ output: { json: several } },
		[{ json: { url: 'u0', ...ofTask } }, { json: { url: 'u1', ...ofTask } }],
	],
	['the only URL', { output: { json: { ...several, urls: ['u0'] } } }, [{ json: { url: 'u0', ...ofTask } }]],
	['a task without URL', { output: { json: ofTask } }, [{ json: ofTask }]],
	[
		'a task that is not completed',
		{ output: { json: { ...several, status: 'in_progress' } } },
		[{ json: { ...several, status: 'in_progress' } }],
	],
])('with Split Files Into Items there is one item for %s', (_, outcome, expected) => {
	const split = items({ ...outcome, split: true });
	expect(split).toStrictEqual(expected.map((one) => ({ ...(one as object), pairedItem: { item: 2 } })));
	expect(items({ ...outcome, split: false })).toHaveLength(1);
});

test('with Split Files Into Items, an error is one item', () => {
	const urls = ['u0', 'u1'];
	expect(items({ ...failed, task: { ...failed.task, urls }, split: true }, 'continueRegularOutput')).toHaveLength(1);
});

test.each<[string, IDataObject, IDataObject]>([
	['an error of an earlier node goes, with its code', { error: 'x', $error: 'x', code: 'c', http_status: 500 }, {}],
	['and with its message, where it has details', { error: 'e', message: 'm', details: {} }, {}],
	['fields that are called so stay without one', { code: 'c', details: 'd' }, { code: 'c', details: 'd' }],
])('of an item that passes through, %s', (_, given, expected) => {
	expect(toPassOn({ a: 1, ...given })).toStrictEqual({ a: 1, ...expected });
});

test('older versions of n8n, which copy the error of an item over its fields, cannot do so', () => {
	const marked = markForErrorOutput({ json: { error: 'x', details: {} } });
	// They look at it, and copy the item with all that can be copied.
	expect(marked.error).toBe('x');
	expect({ ...marked }).toEqual({ json: { error: 'x', details: {} } });
	expect('error' in markForErrorOutput({ json: {} })).toBe(false);
});
