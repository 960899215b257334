/** Results of more than 8 MB that stand in the record of the task itself, as some values of response_format give them. */
import { readAnswer } from '../../core/http/readAnswer';
import { TOO_LARGE } from '../../core/http/types';
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
const PICTURE = 'iVBORw0KGgo'.repeat(2_000_000); // 22 MB, as a picture of 4K has
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
])('%s does not know what was asked for, and reads it where its beginning shows it', async (_, operation, fields) => {
	hostile.answers.poll = finished(fields);
	const { error, json } = await run({ operation, taskId: TASK_ID, options: { simplify: false } });
	expect(error).toBeUndefined();
	expect(json[0].record).toMatchObject(fields);
});

test('any other answer of more than 8 MB is not read, and the advice names the field that there is', async () => {
	hostile.answers.poll = finished({ picture: PICTURE });
	const { error } = await run({ operation: 'getTask', taskId: TASK_ID });
	expect(error?.message).toBe(`The answer from the service is too large (task ${TASK_ID})`);
	expect(error?.description).toMatch(/Check the Base URL in the credential\.$/);
	expect(error?.description).not.toMatch(/response_format|Response Format/);
});

describe('how much is read', () => {
	const MB = 2 ** 20;
	async function* endless(begin: string) {
		yield new TextEncoder().encode(begin.padEnd(MB));
		const filler = new Uint8Array(MB).fill(97);
		for (;;) yield await Promise.resolve(filler);
	}
	test.each([
		['8 MB of an ordinary answer', '{"data":"', undefined, 8],
		['8 MB of one that only looks like a file', '{"b64_json":"', undefined, 8],
		['8 MB of a record without a file', '{"data":"', 'possible', 8],
		['128 MB of one with a file', '{"b64_json": "', 'possible', 128],
		['128 MB where files were asked for', '{"data":"', 'asked', 128],
	] as const)('%s are the most that is read', async (_, begin, inline, megabytes) => {
		const { text, cutOff } = await readAnswer(endless(begin), () => 'X', inline);
		expect([text.length / MB, cutOff]).toEqual([megabytes, TOO_LARGE]);
	});
});
