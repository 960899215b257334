/** Whole numbers of 16 and more digits, which JavaScript would round: they are exact, or they are refused. */
import type { IDataObject } from 'n8n-workflow';
import { startHostile, text, type Hostile } from '../support/hostile.mts';
import { quick, quickSandbox, runGateway, type Kind, type Sandbox } from '../support/nodes.mts';

const LONG = '9223372036854775807';

describe('in what is sent', () => {
	let sandbox: Sandbox;
	beforeAll(async () => {
		sandbox = await quickSandbox();
	});
	afterAll(async () => await sandbox.close());
	beforeEach(() => sandbox.reset());

	const additional = (json: string) => ({ options: { additionalFields: json } });
	const CASES: Array<[string, Kind, IDataObject, label: string, value: string]> = [
		['a seed', 'image', additional(`{"seed": ${LONG}}`), 'Additional Fields (JSON)', LONG],
		[
			'one from an expression',
			'image',
			additional(`={{ {"seed": ${LONG}} }}`),
			'Additional Fields (JSON)',
			'9223372036854776000',
		],
		[
			'in a body of one',
			'video',
			{ model: 'custom', customModelId: 'm', customBody: `{"prompt": "a", "seed": ${LONG}}` },
			'Body (JSON)',
			LONG,
		],
	];
	test.each(CASES)('a number that cannot be sent exactly is refused: %s', async (_, kind, parameters, label, value) => {
		const { error } = await runGateway(kind, sandbox, {
			operation: kind === 'token' ? 'create' : 'generate',
			prompt: 'a',
			...parameters,
		});
		expect(error?.message).toBe(`${label} contains the number ${value}, which cannot be sent exactly`);
		expect(error?.description).toContain('write the number in quotes');
		expect(sandbox.requests).toHaveLength(0);
	});

	test('a number of the form that cannot be sent exactly is refused', async () => {
		const { error } = await runGateway('video', sandbox, {
			operation: 'generate',
			model: 'beta-v3',
			prompt: 'a',
			duration: `={{ "${LONG}" }}`,
		});
		expect(error?.message).toContain(`is "${LONG}"`);
		expect(sandbox.requests).toHaveLength(0);
	});

	test('the largest number that is exact, and one in quotes, are sent as they are', async () => {
		await runGateway('image', sandbox, {
			operation: 'generate',
			prompt: 'a',
			wait: 'dontWait',
			...additional(`{"seed": 9007199254740991, "other": "${LONG}", "small": -9007199254740991, "real": 1.5e30}`),
		});
		expect(sandbox.tasks[0]?.body).toMatchObject({
			seed: 9007199254740991,
			other: LONG,
			small: -9007199254740991,
			real: 1.5e30,
		});
	});

	test('an ID that an expression gives as a number was rounded before, so it is not asked for', async () => {
		const { error } = await runGateway('image', sandbox, {
			operation: 'getResult',
			wait: 'dontWait',
			result: 'urlOnly',
			taskId: `={{ ${LONG} }}`,
		});
		expect(error?.message).toBe('Task ID is the number 9223372036854776000, which has been rounded');
		expect(sandbox.requests).toHaveLength(0);
	});
});

describe('in what is answered', () => {
	let hostile: Hostile;
	beforeAll(async () => {
		hostile = await startHostile();
	});
	afterAll(async () => await hostile.close());
	beforeEach(() => hostile.reset());

	const run = async (kind: Kind, parameters: IDataObject) =>
		(await runGateway(kind, hostile as unknown as Sandbox, parameters)).json;
	const answer = (kind: 'create' | 'poll' | 'balance', json: string) => (hostile.answers[kind] = text(json));

	test('the long ID of a task is asked for, and its record is put out, digit for digit', async () => {
		answer('create', `{"status":"queued","user_id":12345678901234599,"id":${LONG}}`);
		answer('poll', `{"id":${LONG},"status":"completed","url":"http://127.0.0.1/a.png","owner":{"id":-${LONG}}}`);
		const json = await run('image', {
			operation: 'generate',
			prompt: 'a',
			result: 'urlOnly',
			options: { ...quick, simplify: false },
		});
		expect(json).toMatchObject([{ task_id: LONG, record: { id: LONG, owner: { id: `-${LONG}` } } }]);
		expect(hostile.requests.at(-1)?.url).toContain(LONG);
	});

	test('the long IDs of a group, an asset and a verification are put out digit for digit', async () => {
		answer('create', `{"group_id":${LONG},"other":"12345678901234599"}`);
		expect(await run('avatar', { resource: 'group', operation: 'create', groupName: 'a' })).toMatchObject([
			{ group_id: LONG },
		]);
		answer('poll', `{"asset_id":${LONG},"status":"active","group_id":1${LONG}}`);
		const asset = {
			resource: 'asset',
			operation: 'get',
			assetId: LONG,
			waitForActive: false,
			options: { simplify: false },
		};
		expect(await run('avatar', asset)).toMatchObject([
			{ asset_id: LONG, group_id: `1${LONG}`, record: { asset_id: LONG, group_id: `1${LONG}` } },
		]);
		answer('poll', `{"verify_status":"verified","group_id":${LONG}}`);
		const result = { resource: 'verification', operation: 'getResult', verificationId: 'a', vendorToken: 'b' };
		expect(await run('avatar', result)).toMatchObject([{ verified: true, group_id: LONG }]);
	});
});
