/** Results that stand in the record of the task itself, as some values of response_format give them. */
import { finished, startHostile, TASK_ID, type Hostile } from '../support/hostile.mts';
import { quick, runGateway, type Sandbox } from '../support/nodes.mts';

let hostile: Hostile;
beforeAll(async () => {
	hostile = await startHostile();
});
afterAll(async () => await hostile.close());
beforeEach(() => hostile.reset());

const run = async (parameters: Record<string, unknown>) =>
	await runGateway('image', hostile as unknown as Sandbox, parameters as never);
const PICTURE = 'iVBORw0KGgo'.repeat(300_000); // 3.3 MB, as a picture of 2.5 MB has
const additionalFields = '{"response_format": "b64_json"}';

test.each([
	['where the contract’s neighbours put it', { data: [{ b64_json: PICTURE }] }],
	['under a name of its own', { picture: PICTURE }],
])('a result in the record that was asked for with response_format is put out %s', async (_, fields) => {
	hostile.answers.poll = finished(fields);
	const { error, json } = await run({
		operation: 'generate',
		prompt: 'a',
		options: { ...quick, additionalFields },
	});
	expect(error).toBeUndefined();
	expect(json[0]).toMatchObject({ task_id: TASK_ID, status: 'completed', record: fields });
});

test.each([
	['Get Task', 'getTask', { data: [{ b64_json: PICTURE }] }],
	['Wait for Task', 'waitForTask', { image: `data:image/png;base64,${PICTURE}` }],
])('%s does not know what was asked for, and reads it all the same', async (_, operation, fields) => {
	hostile.answers.poll = finished(fields);
	const { error, json } = await run({ operation, taskId: TASK_ID, options: { simplify: false } });
	expect(error).toBeUndefined();
	expect(json[0].record).toMatchObject(fields);
});

describe('a result that is too large for n8n', () => {
	const large = finished({ data: [{ b64_json: PICTURE.repeat(2) }] });

	test('of a file that is too large the error names the task, and how to get a URL; a retry goes on with the task', async () => {
		hostile.answers.poll = large;
		const { error } = await run({ operation: 'generate', prompt: 'a', options: { ...quick, additionalFields } });
		expect(error?.message).toBe(`The answer from the service is too large (task ${TASK_ID})`);
		expect(error?.description).toMatch(
			/The node reads at most 1 MB, with files 4 MB.* set response_format .* to url for new tasks/,
		);
		expect(error?.description).toMatch(/Retrying this execution without changes continues the task\.$/);
		expect(hostile.posts()).toBe(1);
	});

	test('who only reads the task is told how to get it, and of no field that there is not', async () => {
		hostile.answers.poll = large;
		const { error } = await run({ operation: 'getTask', taskId: TASK_ID });
		expect(error?.message).toBe(`The answer from the service is too large (task ${TASK_ID})`);
		expect(error?.description).toMatch(/an HTTP Request node with this credential can read it\.$/);
		expect(error?.description).not.toMatch(/response_format|Response Format/);
	});
});
