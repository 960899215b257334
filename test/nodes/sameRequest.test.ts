/**
 * What makes a request the same one as before: n8n stores these hashes, so those of an earlier version are found again, and
 * nothing is bought twice. A form has its hash in every release, whatever defaults a release adds or changes.
 */
import type { IDataObject, INodeExecutionData, INodeProperties } from 'n8n-workflow';
import { AvatarClient } from '../../core/avatars/client';
import type { FieldSpec } from '../../core/models/model';
import { createGroup } from '../../nodes/Avatar/operations/createGroup';
import { createVerification } from '../../nodes/Avatar/operations/createVerification';
import { assetTypeField, uploadAsset } from '../../nodes/Avatar/operations/uploadAsset';
import { generate } from '../../nodes/generation/generate';
import { image, video } from '../../nodes/generation/media';
import { hashOf } from '../../nodes/run/requestHash';
import { isOrder } from '../../nodes/run/inputItem';
import { hashOfKey } from '../../nodes/run/runMemory';
import { operationProperties, type Operation } from '../../nodes/run/operation';
import type { Run } from '../../nodes/run/nodeRun';
import { create as createToken } from '../../nodes/Token/operations/create';
import { field as textField, choice } from '../support/bodySpecs';
import { itemOf, MODELS, planRequest } from '../support/form';
import { casesOf } from '../support/goldenCases';
import { goldenModels } from '../support/goldens.mts';
import { NODES, pngField } from '../support/nodes.mts';

test('a request has the same hash in every version, and another request or thing has another one', () => {
	expect(hashOf('task', { prompt: 'a cat' })).toBe('Zl4HR4DdecJekkEFFUj9tR');
	const all = [hashOf('task', { a: 1 }), hashOf('task', { a: 2 }), hashOf('token', { a: 1 })];
	expect(new Set(all).size).toBe(3);
	const [one, other] = [
		{ a: [{ b: 1, c: 2 }], d: 3 },
		{ d: 3, a: [{ c: 2, b: 1 }] },
	];
	expect(hashOf('task', one)).toBe(hashOf('task', other));
});

test('a Purchase Key has the same hash in all nodes with the same account and address, and no other', () => {
	const of = (key: string, account: string, baseUrl: string) => hashOfKey(key, { account, baseUrl });
	expect(of('k', 'c', 'https://gateway.test')).toBe('8rRERfRBgnONwQHlnBbp6l');
	const others = [
		of('x', 'c', 'https://gateway.test'),
		of('k', 'x', 'https://gateway.test'),
		of('k', 'c', 'https://x.test'),
	];
	expect(new Set([...others, of('k', 'c', 'https://gateway.test')]).size).toBe(4);
});

/** Counts only where a form with a reference video is tried. */
const CLIP = 'https://example.com/clip.mp4';

/** A form in which little is chosen. */
interface Form {
	name: string;
	/** Of its body, as the node has them: a test changes them in place, as a release would. */
	fields: FieldSpec[];
	operation: () => Operation;
	parameters: IDataObject;
	input?: INodeExecutionData;
}

const extensible: Form[] = [
	...goldenModels.map(({ id, kind, minimal }) => ({
		name: id,
		fields: MODELS[kind].find((model) => model.id === id)?.fields as FieldSpec[],
		operation: () => generate(kind === 'image' ? image : video),
		parameters: { ...(minimal as IDataObject), model: id, wait: 'dontWait', referenceVideoUrl: CLIP },
	})),
];

const fieldsOf = ({ properties }: Operation, ...names: string[]) =>
	properties.filter(({ name }) => names.includes(name)) as FieldSpec[];

const upload = { fields: [assetTypeField] as INodeProperties[] as FieldSpec[], operation: () => uploadAsset };
const forms: Form[] = [
	...extensible,
	{
		...{ name: 'a quota', fields: [], operation: () => createToken },
		parameters: { name: 'Nightly', amount: '5' },
	},
	{
		...{
			name: 'a group',
			fields: fieldsOf(createGroup, 'groupName', 'groupDescription'),
			operation: () => createGroup,
		},
		parameters: { groupName: 'Anna' },
	},
	{
		...{ name: 'a verification', fields: [], operation: () => createVerification },
		parameters: { callbackUrl: 'https://n8n.example.com/webhook/x' },
	},
	{
		...{ ...upload, name: 'an asset' },
		parameters: { groupId: 'pg_1', sourceUrl: 'https://example.com/face.png' },
	},
	{
		...{ ...upload, name: 'an asset of a file' },
		parameters: { groupId: 'pg_1', source: 'binary' },
		input: { json: {}, binary: { data: pngField() } },
	},
];

/** The request of a form, where n8n has filled in the defaults of this release. */
async function requestOf({ operation, parameters, input }: Form, more: IDataObject = {}) {
	const built = operation();
	const value = String(built.option.value);
	const properties = operationProperties({ option: { name: 'X', value: 'x' }, operations: [built] }, value);
	const node = { description: { ...NODES.image.description, properties } };
	const run = {
		...{ waiting: 'dontWait', hints: new Set(), files: new Map() },
		fileHash: async (_id: string, read: () => Promise<string>) => await read(),
		...{
			context: { getMode: () => 'manual', getExecutionId: () => '1', getInputData: () => [input] },
			client: { avatars: new AvatarClient({} as never) },
		},
		...{
			ledger: { find: () => undefined, scope: { store: {}, runIndex: 0 } },
			...{ concurrency: 1, pollPlan: { kind: 'automatic' } },
		},
	} as unknown as Run;
	const work = await built.prepare(itemOf(node, { operation: value, ...parameters, ...more }, input), run);
	const { request } = (isOrder(work) ? work : work.about) ?? {};
	return { hash: request?.hash, body: JSON.stringify(request?.body) };
}

/** In a release in which the form has one more field. */
async function withField<T>({ fields, operation }: Form, added: FieldSpec, read: () => Promise<T>): Promise<T> {
	const { properties } = operation();
	fields.push(added);
	properties.push(added);
	try {
		return await read();
	} finally {
		fields.pop();
		properties.pop();
	}
}

/** In a release in which the field has another default. */
async function withDefault<T>(field: FieldSpec, value: FieldSpec['default'], read: () => Promise<T>): Promise<T> {
	const before = field.default;
	field.default = value;
	try {
		return await read();
	} finally {
		field.default = before;
	}
}

test('the form of each thing has the same hash in every version', async () => {
	const hashes = forms.map(async (form) => [form.name, (await requestOf(form)).hash] as const);
	expect(Object.fromEntries(await Promise.all(hashes))).toEqual({
		'a group': 'O4eC3OyLAYA807vc4jXaKg',
		'a verification': '6/oOjDR45iAFJVivvqlKBC',
		'alpha-video-1-5-pro': 'po+vAjXg+WefctzXmzNGxS',
		'a quota': 'AfV3AXeyjDcdqGONLOxNBM',
		'an asset': 'qwIXiwWXwXP7ZyEXYFEXMJ',
		'an asset of a file': 'n2qSC21IxiSzUCVa5/6K6s',
		'beta-v3': 'QgL+Itrht0q9eQoiILp5ni',
		'beta-v3-omni': 'OQ/VB0vJ6OPZCeJ9VzltDs',
		'beta-video-o1': 'fRJue5hYjGnU+7noVUJzWV',
		'delta-2.6-flash': 'hFg1y2vgoP+B9/xjslhxBX',
		'gamma-image-2': 'prHhISq7EHw7mLjA98ZkNw',
	});
});

describe.each(extensible)('a release adds a field with a default to $name', (form) => {
	test.each<[string, same: unknown[], others: unknown[], FieldSpec]>([
		['text', ['a', ' a '], ['b', ''], textField('fresh', { default: 'a' })],
		['number', ['3', 3], [4, ''], textField('fresh', { type: 'number', default: 3 })],
		['switch', ['true', true], [false], textField('fresh', { type: 'boolean', default: true })],
		['choice in a list', ['a'], ['b'], choice('fresh', ['a', 'b'], { default: 'a', bodyPath: 'fresh.0.inner' })],
		['choice of which one is not sent', ['a'], ['b'], choice('fresh', ['a', 'b'], { default: 'a', notSent: 'b' })],
	])('a %s: with %j it is the same request as without, with %j another one', async (_, same, others, added) => {
		const before = await requestOf(form);
		await withField(form, added, async () => {
			const untouched = await requestOf(form);
			expect(untouched.hash).toBe(before.hash);
			expect(untouched.body).not.toBe(before.body);
			for (const fresh of same) expect((await requestOf(form, { fresh } as IDataObject)).hash).toBe(before.hash);
			const hashes = others.map(async (fresh) => (await requestOf(form, { fresh } as IDataObject)).hash);
			expect(new Set([before.hash, ...(await Promise.all(hashes))]).size).toBe(others.length + 1);
		});
	});
});

/** With another default of these, the form would show, and count, other fields than those that were filled in. */
const DECIDING = ['referenceVideo'];

const isUntouched =
	({ parameters }: Form) =>
	({ name, type }: FieldSpec) =>
		!(name in parameters) && !DECIDING.includes(name) && type !== 'dateTime' && type !== 'fixedCollection';

/** Values other than the default, which the field allows. */
function othersOf({ type, shape, options, default: now, max }: FieldSpec): Array<string | number | boolean> {
	if (type === 'options')
		return (options ?? []).flatMap((each) => ('value' in each && each.value !== now ? [each.value] : []));
	const most = max ?? Number(now) + 7;
	return type === 'number' || shape === 'number' ? [most - 1, most] : ['text', 'another text'];
}

/** The choices with which the form shows the field. */
const choicesFor = ({ displayOptions }: FieldSpec): IDataObject =>
	Object.fromEntries(Object.entries(displayOptions?.show ?? {}).map(([name, values]) => [name, values?.[0] as string]));

describe.each(forms)('a release changes a default of $name', (form) => {
	test('a form that does not choose it has the same hash, one that chooses it has its own', async () => {
		for (const field of form.fields.filter(isUntouched(form))) {
			const { name, default: old } = field;
			const choices = choicesFor(field);
			const [changed, other] = othersOf(field);
			const before = await requestOf(form, choices);
			const choosing = await requestOf(form, { ...choices, [name]: other ?? changed });
			expect(choosing.hash === before.hash).toBe(choosing.body === before.body);
			await withDefault(field, changed, async () => {
				const untouched = await requestOf(form, choices);
				expect(untouched.hash).toBe(before.hash);
				for (const value of [old, changed]) {
					const chosen = await requestOf(form, { ...choices, [name]: value as string });
					expect(chosen.hash === before.hash).toBe(chosen.body === untouched.body);
				}
				if (other !== undefined) expect(await requestOf(form, { ...choices, [name]: other })).toEqual(choosing);
			});
		}
	});
});

describe.each(goldenModels)('$id', (golden) => {
	const { id, kind, bodies } = golden;
	const accepted = casesOf(golden, goldenModels).filter(({ message }) => message === undefined);

	test('forms have the same hash exactly where they have the same body', () => {
		const ofHash = new Map<string, string>();
		const ofBody = new Map<string, string>();
		for (const { parameters } of [...accepted, ...bodies]) {
			const { body, chosen } = planRequest(kind, { model: id, ...parameters } as IDataObject);
			const [hash, written] = [hashOf('task', chosen), hashOf('task', body)];
			expect([parameters, ofHash.get(hash) ?? written]).toEqual([parameters, written]);
			ofHash.set(hash, written);
			// Additional Fields count as they were given.
			if ('options' in parameters) continue;
			expect([parameters, ofBody.get(written) ?? hash]).toEqual([parameters, hash]);
			ofBody.set(written, hash);
		}
		expect(ofBody.size).toBeGreaterThan(10);
	});
});

test.each<[string, IDataObject, IDataObject]>([
	[
		'a choice that Additional Fields override, and that has decided about a default',
		{ resolution: '4K', options: { additionalFields: { resolution: '2K' } } },
		{ resolution: '2K', options: { additionalFields: { resolution: '2K' } } },
	],
	['Additional Fields that remove a default', { options: { additionalFields: { n: null } } }, {}],
	['Additional Fields that override a default', { options: { additionalFields: { n: 2 } } }, {}],
	['Additional Fields that override a constant', { options: { additionalFields: { response_format: 'b64' } } }, {}],
])('%s makes another request', (_, one, other) => {
	const hashes = [one, other].map((more) =>
		hashOf('task', planRequest('image', { model: 'gamma-image-2', prompt: 'a cat', ...more }).chosen),
	);
	expect(hashes[0]).not.toBe(hashes[1]);
});

test('of Other Model the whole body counts', () => {
	const of = (customBody: string) => {
		const { body, chosen } = planRequest('image', { model: 'custom', customModelId: 'm', customBody });
		expect(chosen).toEqual(body);
		return hashOf('task', chosen);
	};
	expect(of('{"a":1,"n":1}')).toBe(of('{"n":1,"a":1}'));
	expect(of('{"a":1,"n":1}')).not.toBe(of('{"a":1}'));
});
