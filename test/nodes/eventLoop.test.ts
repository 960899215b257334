/** n8n answers others while a node works: it is never held for long in one piece, however much there is to read or to prepare. */
import { parseOrderItems, salvageOrderItems, toOrderItems } from '../../nodes/durable/orderItems';
import { plannedOrder } from '../support/orders.mts';
import {
	finished,
	longestPieceOf,
	parsingMs,
	startHostile,
	TASK_ID,
	text,
	type Answer,
	type Hostile,
} from '../support/hostile.mts';
import { prompts, quick, runGateway, type Sandbox } from '../support/nodes.mts';

let hostile: Hostile;
beforeAll(async () => {
	hostile = await startHostile();
});
afterAll(async () => await hostile.close());
beforeEach(() => hostile.reset());

/** Three times of what is promised: n8n's own work, and that of the service in this process, comes on top. More on a slow or busy machine. */
const mostMs = () => Math.max(150, 5 * parsingMs());
const isHeldForMomentsOnly = async (work: () => Promise<unknown>) => {
	const most = mostMs();
	expect(await longestPieceOf(work, most)).toBeLessThan(most);
};

const TOO_LARGE = `The answer from the service is too large (task ${TASK_ID})`;
const PICTURE = 'http://127.0.0.1/a.png';
const filled = (fields: string) => text(`{"id":"${TASK_ID}","status":"completed",${fields}}`);
const list = (count: number, entry: (index: number) => string) =>
	filled(`"url":"${PICTURE}","a":[${Array.from({ length: count }, (_, index) => entry(index)).join()}]`);
const numbers = (count: number) => list(count, () => '9007199254740993');

/** What is answered, and whether the node reads it or finds it too large. */
const ANSWERS: Record<string, [Answer, boolean]> = {
	'299,000 long numbers': [numbers(299_000), false],
	'24,000 long numbers': [numbers(24_000), true],
	'149,000 objects': [list(149_000, (index) => `{"id":"file_${index}","n":${index},"a":"bcd"}`), false],
	'290,000 names': [filled(`"a":{${Array.from({ length: 290_000 }, (_, n) => `"name_${n}":${n}`).join()}}`), false],
	'a file of 3 MB': [finished({ data: [{ b64_json: 'QUJD'.repeat(1_000_000) }] }), true],
	'a file of 75 MB': [finished({ data: [{ b64_json: 'QUJD'.repeat(25_000_000) }] }), false],
	'an address of 3 MB that has to be encoded': [finished({ url: `${PICTURE}${'é'.repeat(1_500_000)}` }), true],
	'names of 1.5 MB': [filled(`"url":"${PICTURE}","${'_'.repeat(1_500_000)}":1,"${'a1'.repeat(750_000)}":2`), true],
	'a status of 3 MB in the data': [
		text(`{"id":"${TASK_ID}","status":"success","data":{"id":"${TASK_ID}","status":"${'aA'.repeat(1_500_000)}"}}`),
		true,
	],
	'1,000 addresses with 1,000 spaces': [
		finished({ urls: Array.from({ length: 1_000 }, (_, n) => `${PICTURE}?${n}${' '.repeat(1_000)}b`) }),
		true,
	],
	'very long words': [
		finished({ error: { message: 'x '.repeat(400_000), code: 'y'.repeat(400_000) }, progress: '1'.repeat(300_000) }),
		true,
	],
};

const run = async (parameters: object, items = prompts('a')) =>
	await runGateway('image', hostile as unknown as Sandbox, { result: 'urlOnly', ...parameters }, { items });
const generate = { operation: 'generate', prompt: '={{ $json.prompt }}', options: quick };

test.each(Object.entries(ANSWERS))(
	'a poll that is answered by %s holds n8n only for moments',
	async (_, [answer, isRead]) => {
		hostile.answers.poll = answer;
		await isHeldForMomentsOnly(async () => {
			const { error, json } = await run({
				operation: 'getResult',
				wait: 'dontWait',
				result: 'urlOnly',
				taskId: TASK_ID,
				options: { simplify: false },
			});
			expect(error?.message).toBe(isRead ? undefined : TOO_LARGE);
			expect(json[0]?.task_id).toBe(isRead ? TASK_ID : undefined);
		});
	},
);

test.each(['24,000 long numbers', 'a file of 3 MB'])(
	'a creating request that is answered by %s holds n8n only for moments, and the ID is not lost',
	async (name) => {
		[hostile.answers.create] = ANSWERS[name] as [Answer, boolean];
		hostile.answers.poll = finished({ url: PICTURE });
		await isHeldForMomentsOnly(async () => {
			expect((await run(generate)).json).toMatchObject([{ task_id: TASK_ID, url: PICTURE }]);
		});
	},
);

test('the answers for many tasks at once hold n8n only for moments', async () => {
	let created = 0;
	const filler = Array.from({ length: 2_000 }, (_, index) => ({ [`name_${index}`]: 'a'.repeat(100) }));
	const record = (id: string) => text(JSON.stringify({ id, status: 'completed', url: PICTURE, filler }));
	const records = new Map(Array.from({ length: 200 }, (_, index) => [`task_${index}`, record(`task_${index}`)]));
	hostile.answers.create = (response, request) =>
		text(JSON.stringify({ id: `task_${created++ % 200}`, status: 'queued' }))(response, request);
	hostile.answers.poll = (response, request) => records.get(request.url?.split('/').at(-1) ?? '')?.(response, request);
	const items = prompts(...Array.from({ length: 40 }, (_, index) => `picture ${index}`));
	await isHeldForMomentsOnly(async () => expect((await run(generate, items)).json).toHaveLength(items.length));
});

test('the steps of thousands of items that are handed to another execution hold n8n only for moments', async () => {
	const orders = Array.from({ length: 10_000 }, (_, item) => plannedOrder(item));
	await isHeldForMomentsOnly(async () => {
		const items = await toOrderItems(orders);
		expect(await parseOrderItems(items)).toHaveLength(orders.length);
		expect(await salvageOrderItems(items)).toHaveLength(orders.length);
	});
});

test('the mistakes of thousands of items hold n8n only for moments', async () => {
	const items = prompts(...Array.from({ length: 12_000 }, () => ''));
	await isHeldForMomentsOnly(async () => expect((await run(generate, items)).error).toBeDefined());
});

test('the preparation of thousands of items holds n8n only for moments', async () => {
	// The last is not allowed: all are prepared, nothing is sent.
	const items = prompts(...Array.from({ length: 2_999 }, (_, index) => `picture ${index}`), '');
	await isHeldForMomentsOnly(async () => {
		const { error } = await run(generate, items);
		expect(error).toMatchObject({ message: expect.stringContaining('Prompt'), context: { itemIndex: 2_999 } });
	});
});

test('large images that n8n keeps in memory hold n8n only for moments', async () => {
	const data = Buffer.alloc(30_000_000, 'picture').toString('base64');
	const binary = { data: { data, mimeType: 'image/png', fileName: 'a.png' } };
	const image = Array.from({ length: 4 }, () => ({ source: 'binary', binaryPropertyName: 'data' }));
	const parameters = { ...generate, images: { image } };
	// The last is not allowed: nothing is sent.
	const items = [
		{ json: { prompt: 'a' }, binary },
		{ json: { prompt: '' }, binary },
	];
	await isHeldForMomentsOnly(async () => expect((await run(parameters, items)).error?.message).toContain('Prompt'));
});
