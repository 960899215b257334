/** The output schemas say exactly what each operation puts out: the next node is mapped with them before the first run. */
import type { IDataObject } from 'n8n-workflow';
import { operations as balanceOperations } from '../../nodes/Balance/Balance.node';
import { resources as avatarResources } from '../../nodes/Avatar/Avatar.node';
import { operations as imageOperations } from '../../nodes/ImageGeneration/ImageGeneration.node';
import { operations as tokenOperations } from '../../nodes/Token/Token.node';
import { operations as videoOperations } from '../../nodes/VideoGeneration/VideoGeneration.node';
import { pngField, quick, quickSandbox, runGateway, type RunOptions, type Sandbox } from '../support/nodes.mts';
import { operationsWithSchema, readSchema, toSchema } from '../support/schemas.mts';

const TASK_MS = 300;

let sandbox: Sandbox;
beforeAll(async () => {
	sandbox = await quickSandbox({ imageTaskMs: TASK_MS, videoTaskMs: TASK_MS, assetMs: TASK_MS });
});
afterAll(async () => await sandbox.close());

type Kind = Parameters<typeof runGateway>[0];

/** The output of one run: the parameters as the form has them, and one item. */
async function run(kind: Kind, parameters: IDataObject, options: RunOptions = {}): Promise<IDataObject> {
	const { json, error } = await runGateway(kind, sandbox, parameters, options);
	if (error) throw error;
	return json[0];
}

const generateImage = async (more: IDataObject = {}) =>
	await run('image', { operation: 'generate', model: 'gamma-image-2', prompt: 'A cat', options: quick, ...more });
const generateVideo = async (more: IDataObject = {}) =>
	await run('video', {
		operation: 'generate',
		model: 'alpha-video-1-5-pro',
		prompt: 'A cat walks',
		options: quick,
		...more,
	});
const createGroup = async () =>
	await run('avatar', {
		resource: 'group',
		operation: 'create',
		groupName: 'Spokesperson',
		groupDescription: 'For the news',
	});
const uploadAsset = async () => {
	const { group_id: groupId } = await createGroup();
	const sourceUrl = 'https://example.com/face.png';
	return await run('avatar', { resource: 'asset', operation: 'upload', groupId, sourceUrl });
};
const createVerification = async () => {
	const [callbackUrl, reference] = ['https://example.com/callback', 'customer-42'];
	return await run('avatar', { resource: 'verification', operation: 'create', callbackUrl, reference });
};

/** Each operation, as a person would run it first. */
const runs: Record<string, Record<string, () => Promise<IDataObject>>> = {
	Balance: {
		'balance/getAccountBalance': async () => await run('balance', { operation: 'getAccountBalance' }),
		'balance/getApiKeyBalance': async () => await run('balance', { operation: 'getApiKeyBalance' }),
	},
	Token: {
		'token/create': async () =>
			await run('token', {
				operation: 'create',
				name: 'Intern',
				amount: '5',
				expiresAt: '2099-01-01T00:00:00Z',
			}),
	},
	ImageGeneration: {
		'image/generate': generateImage,
		'image/uploadImage': async () =>
			await run('image', { operation: 'uploadImage' }, { items: [{ json: {}, binary: { data: pngField() } }] }),
		'image/getResult': async () => {
			const { task_id: taskId } = await generateImage({ wait: 'dontWait' });
			return await run('image', { operation: 'getResult', taskId, options: quick });
		},
	},
	VideoGeneration: {
		'video/generate': generateVideo,
		'video/getResult': async () => {
			const { task_id: taskId } = await generateVideo({ wait: 'dontWait' });
			return await run('video', { operation: 'getResult', taskId, options: quick });
		},
	},
	Avatar: {
		'asset/get': async () =>
			await run('avatar', { resource: 'asset', operation: 'get', assetId: (await uploadAsset()).asset_id }),
		'asset/upload': uploadAsset,
		'group/create': createGroup,
		'verification/create': createVerification,
		'verification/get': async () =>
			await run('avatar', {
				resource: 'verification',
				operation: 'get',
				verificationId: (await createVerification()).task_id,
			}),
		'verification/getResult': async () => {
			const { task_id: verificationId, vendor_token: vendorToken } = await createVerification();
			sandbox.verify(String(verificationId));
			return await run('avatar', { resource: 'verification', operation: 'getResult', verificationId, vendorToken });
		},
	},
};

const values = (resource: string, operations: typeof imageOperations) =>
	operations.map(({ option }) => `${resource}/${String(option.value)}`);
const inForms: Record<string, string[]> = {
	Balance: values('balance', balanceOperations),
	Token: values('token', tokenOperations),
	ImageGeneration: values('image', imageOperations),
	VideoGeneration: values('video', videoOperations),
	Avatar: avatarResources.flatMap(({ option, operations }) => values(String(option.value), [...operations])),
};

for (const [node, operations] of Object.entries(runs)) {
	test(`every operation of ${node} has a schema, and nothing else has one`, () => {
		expect(operationsWithSchema(node)).toEqual(inForms[node].sort());
		expect(Object.keys(operations).sort()).toEqual(inForms[node].sort());
	});

	for (const [operation, start] of Object.entries(operations)) {
		test(`${node} ${operation} puts out what its schema says`, async () => {
			const schema = readSchema(node, operation);
			const item = await start();
			expect({ version: 1, ...toSchema(item, schema) }).toEqual(schema);
			expect(Object.keys(item)).toEqual(Object.keys(schema.properties ?? {}));
		});
	}
}
