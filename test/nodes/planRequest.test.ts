/** The request that the form of one item describes, by models written for it: what is sent, what is left out and said, and what is refused. */
import type { IDataObject } from 'n8n-workflow';
import { asGatewayError, type GatewayError } from '../../core/errors';
import { PendingUpload } from '../../core/models/images';
import { CUSTOM_MODEL_LABEL, type ModelSpec } from '../../core/models/spec';
import { planRequest } from '../../nodes/generation/planRequest';
import { assetTakers, modelsWith } from '../../nodes/models';
import { HINTS } from '../../nodes/run/hints';
import { Item, Parameters as NodeParameters } from '../../nodes/run/item';
import { choice, field, specOf } from '../support/bodySpecs';
import { lightContext } from '../support/lightContext.mts';

const images = (more = {}) =>
	field('images', {
		...{ displayName: 'Images', type: 'fixedCollection', default: {}, bodyPath: 'image_urls', shape: 'images' },
		options: [{ displayName: 'Image', name: 'image', values: [] }],
		...more,
	});
const model = (id: string, ...spec: Parameters<typeof specOf>): ModelSpec => ({ ...specOf(...spec), id, summary: id });

const PLAIN = model(
	'plain',
	[field('prompt', { required: true }), choice('size', ['small', 'large'], { default: 'small' })],
	{
		optionalFields: [field('style'), choice('mood', ['calm', 'wild'])],
	},
);
const WITH_IMAGES = model(
	'with-images',
	[field('prompt'), images(), field('steps', { type: 'number', shape: 'number' })],
	{
		rules: [
			{ kind: 'usesFirst', of: 'image_urls', count: 2, advice: '' },
			{ kind: 'imageReferences', prompt: 'prompt' },
		],
	},
);
const WITH_ROLES = model(
	'with-roles',
	[
		images({ shape: 'imagesWithRoles' }),
		field('videos', {
			...{ displayName: 'Videos', type: 'fixedCollection', default: {}, shape: 'urls' },
			options: [{ displayName: 'Video', name: 'video', values: [] }],
		}),
	],
	{ acceptsAssets: true },
);
const MODELS = [PLAIN, WITH_IMAGES, WITH_ROLES];

const A = 'https://a.example/a.png';
const B = 'https://a.example/b.png';
const C = 'https://a.example/c.png';
const rows = (...image: unknown[]) => ({ images: { image } as IDataObject });
const url = (address: unknown, role?: string) => ({ source: 'url', url: address, role });

/** @param stored the parameters as the node has them, where they hold expressions */
function plan(
	parameters: IDataObject,
	{ stored = {}, models = MODELS }: { stored?: IDataObject; models?: ModelSpec[] } = {},
) {
	const { context } = lightContext({
		parameters,
		node: { parameters: { ...parameters, ...stored } as never },
		helpers: {
			assertBinaryData: (_: number, given: { data?: string }) => {
				if (given.data === undefined) throw new Error('there is no such file');
				return given;
			},
		},
	});
	const file = (fileName: string) => ({ data: 'AAAA', mimeType: 'image/png', fileName, id: fileName });
	const binary = { data: file('data.png'), other: file('other.png') };
	const item = new Item(new NodeParameters(context, context.getNode()), 0, { json: {}, binary });
	const { body, ...more } = planRequest(item, models);
	return { body: JSON.parse(JSON.stringify(body)) as IDataObject, raw: body, ...more };
}

/** The reasons of all that is wrong with the form. */
function reasonsOf(...given: Parameters<typeof plan>) {
	const reasonOf = ({ details: { reason } }: GatewayError) => [reason?.name, reason?.data] as const;
	try {
		plan(...given);
		return [];
	} catch (thrown) {
		const error = asGatewayError(thrown);
		expect(error.kind).toBe('badInput');
		return [error, ...(error.details.others ?? [])].map(reasonOf);
	}
}

describe('the model and its fields', () => {
	test('the body has the fields of the model, and of the optional ones those that were added', () => {
		const added = { style: 'flat', mood: null };
		expect(
			plan({ model: 'plain', prompt: 'a', size: 'large', mood: 'wild', steps: 5, optionalFields: added }),
		).toMatchObject({
			body: { model: 'plain', prompt: 'a', size: 'large', style: 'flat' },
			hints: [],
		});
		for (const optionalFields of [undefined, {}, { other: 1 }])
			expect(plan({ model: 'plain', prompt: 'a', style: 'flat', optionalFields }).body).toEqual({
				...{ model: 'plain', prompt: 'a', size: 'small' },
			});
	});

	test('Additional Fields are merged in last, but they do not change the model', () => {
		const plain = { model: 'plain', prompt: 'a' };
		expect(plan({ ...plain, options: { additionalFields: { seed: 1, prompt: 'b' } } }).body).toEqual({
			...{ model: 'plain', prompt: 'b', size: 'small', seed: 1 },
		});
		expect(reasonsOf({ ...plain, options: { additionalFields: '{ "model": null }' } })).toEqual([
			['modelInAdditionalFields', { label: 'Additional Fields (JSON)' }],
		]);
	});

	test.each([
		['another', 'another'],
		[undefined, ''],
	])('a model that is not in the list is refused with those that are: %s', (id, named) => {
		const data = { model: named, known: 'plain, with-images, with-roles' };
		expect(reasonsOf({ model: id })).toEqual([['modelNotInList', data]]);
	});

	test('while the model is an expression, an empty text is no choice of the user', () => {
		const stored = { model: '={{ "x" }}' };
		const needed = ['fieldEmpty', expect.objectContaining({ label: 'PROMPT' })];
		expect(reasonsOf({ model: 'plain', prompt: '' })).toEqual([needed]);
		const withDefault = [model('plain', [field('prompt', { default: 'b' })])];
		expect(plan({ model: 'plain', prompt: '' }, { models: withDefault }).body).toEqual({ model: 'plain' });
		expect(plan({ model: 'plain', prompt: '' }, { models: withDefault, stored }).body).toEqual({
			model: 'plain',
			prompt: 'b',
		});
		expect(plan({ model: 'plain', prompt: 'c' }, { models: withDefault, stored }).body.prompt).toBe('c');
	});
});

test.each([
	['Prompt', { prompt: '={{ $json.promt }}' }, { prompt: undefined }],
	[
		'Additional Fields (JSON)',
		{ options: { additionalFields: '={{ $json.more }}' } },
		{ options: { additionalFields: undefined } },
	],
])('an expression for %s that gives nothing is refused, also where the model needs none', (label, stored, given) => {
	const spec = [model('silent', [field('prompt', { displayName: 'Prompt' })])];
	expect(reasonsOf({ model: 'silent', ...given }, { models: spec, stored })).toEqual([
		['expressionGaveNothing', { label }],
	]);
	expect(plan({ model: 'silent', ...given }, { models: spec }).body).toEqual({ model: 'silent' });
	const noPrompt = { model: 'silent', prompt: label === 'Prompt' ? null : '' };
	expect(plan(noPrompt, { models: spec, stored: { prompt: '={{ $json.prompt }}' } }).body).toEqual({ model: 'silent' });
});

test.each([null, ''])(
	'a field that Additional Fields have emptied is empty, whatever its expression gives: %p',
	(prompt) => {
		const given = { model: 'plain', prompt: 'a', options: { additionalFields: { prompt } } };
		expect(reasonsOf(given, { stored: { prompt: '={{ $json.prompt }}' } })).toMatchObject([['fieldEmpty', {}]]);
	},
);

test.each(['', '  '])('an expression that gives %j has given nothing, also where the model is one', (prompt) => {
	const stored = { prompt: '={{ $json.prompt }}', model: '={{ $json.model }}' };
	expect(reasonsOf({ model: 'plain', prompt }, { stored })).toMatchObject([['expressionGaveNothing', {}]]);
	expect(reasonsOf({ model: 'plain', prompt }, { stored: { prompt: stored.prompt } })).toMatchObject([
		['expressionGaveNothing', {}],
	]);
});

test('an expression for another field that gives nothing is the default of the field', () => {
	const stored = { size: '={{ $json.sise }}' };
	expect(plan({ model: 'plain', prompt: 'a', size: undefined }, { stored }).body).toEqual({
		...{ model: 'plain', prompt: 'a', size: 'small' },
	});
});

describe('a model by its ID', () => {
	const custom = { model: 'custom', customModelId: 'new-1' };

	test('a model by its ID gets the body that was entered, with Additional Fields, and nothing is checked', () => {
		const options = { additionalFields: { a: { b: 1 } } };
		const customBody = '{ "prompt": 5, "a": { "c": 2 }, "model": "old" }';
		expect(plan({ ...custom, customBody, options })).toMatchObject({
			...{ body: { model: 'new-1', prompt: 5, a: { b: 1, c: 2 } }, unused: [], hints: [] },
		});
	});

	test('where an expression gives "custom", a hint names the values of the form that are not sent', () => {
		const given = {
			...custom,
			customBody: '{ "a": 1 }',
			prompt: 'a',
			size: 'small',
			steps: 5,
			optionalFields: { style: 'b' },
		};
		expect(plan(given).unused).toEqual([]);
		const { unused } = plan(given, { stored: { model: '={{ $json.model }}' } });
		expect(unused).toEqual(['PROMPT', 'STYLE', 'STEPS']);
	});

	test('a model by its ID needs an ID and a body of its own', () => {
		expect(reasonsOf({ ...custom, customModelId: ' ', customBody: '{}' })).toMatchObject([
			['fieldEmpty', { label: 'Model ID' }],
		]);
		expect(reasonsOf({ ...custom, customBody: '{"prompt": ""}' })).toEqual([
			['bodyUnchanged', { label: 'Body (JSON)' }],
		]);
	});

	test.each<[string, unknown, string, object]>([
		['nothing', undefined, 'expressionGaveNothing', {}],
		['null', null, 'expressionGaveNothing', {}],
		[
			'nothing, beside Additional Fields,',
			undefined,
			'expressionGaveNothing',
			{ options: { additionalFields: { a: 1 } } },
		],
		['an empty text', '', 'expressionGaveNothing', {}],
		['an object of nothing', {}, 'expressionGaveNothing', {}],
	])('a body that is an expression which gives %s is not sent (%p)', (_, customBody, reason, more) => {
		const stored = { customBody: '={{ $json.body }}' };
		expect(reasonsOf({ ...custom, ...more, customBody } as never, { stored })).toEqual([
			[reason, { label: 'Body (JSON)' }],
		]);
	});

	test('a body that was left empty is not sent, unless there are Additional Fields', () => {
		const advice = 'Enter the prompt and whatever else the model needs.';
		for (const customBody of ['', ' ', '{}'])
			expect(reasonsOf({ ...custom, customBody })).toEqual([['fieldEmpty', { label: 'Body (JSON)', enter: advice }]]);
		const options = { additionalFields: { prompt: 'a' } };
		expect(plan({ ...custom, customBody: '{}', options }).body).toEqual({ model: 'new-1', prompt: 'a' });
	});
});

describe('images', () => {
	test('images are URLs and files, in the order of the form', () => {
		const { raw } = plan({
			model: 'with-images',
			...rows(url(A), { source: 'binary', binaryPropertyName: 'other' }),
		});
		const sent = raw.image_urls as unknown[];
		expect(sent[0]).toBe(A);
		expect(sent[1]).toBeInstanceOf(PendingUpload);
		expect((sent[1] as PendingUpload).identity).toBe('other.png');
	});

	test.each<[string, unknown, unknown[]]>([
		['a list of URLs from an expression', url([` ${A} `, B]), [A, B]],
		[
			'names with commas between them',
			{ source: 'binary', binaryPropertyName: 'data,other' },
			['upload of data.png', 'upload of other.png'],
		],
		[
			'a list of names',
			{ source: 'binary', binaryPropertyName: ['data', 'other'] },
			['upload of data.png', 'upload of other.png'],
		],
		['the usual name', { source: 'binary' }, ['upload of data.png']],
		['a file itself', { source: 'binary', binaryPropertyName: { data: 'A', id: 'own' } }, ['upload of own']],
	])('one row may be several images: %s', (_, row, expected) => {
		expect(plan({ model: 'with-images', ...rows(row) }).body.image_urls).toEqual(expected);
	});

	test.each<[string, unknown, string, object]>([
		['no URL', url(undefined), 'imageEmpty', { label: 'Images' }],
		['an empty list of URLs', url([]), 'imageEmpty', { label: 'Images' }],
		['an object', url({ a: 1 }), 'imageNotAUrl', { value: '"{"a":1}"' }],
		[
			'no name',
			{ source: 'binary', binaryPropertyName: undefined },
			'binaryFieldEmpty',
			{ label: 'Image 1: Input Binary Field' },
		],
		['an empty list of names', { source: 'binary', binaryPropertyName: [] }, 'binaryFieldEmpty', {}],
		[
			'a name that is missing',
			{ source: 'binary', binaryPropertyName: 'data,,other' },
			'binaryFieldEmpty',
			{ label: 'Image 2: Input Binary Field' },
		],
	])('an image that is missing is refused, and none other takes its place: %s', (_, row, reason, data) => {
		expect(reasonsOf({ model: 'with-images', ...rows(row) })).toMatchObject([[reason, data]]);
	});

	test.each<[unknown, unknown]>([
		[undefined, undefined],
		[null, undefined],
		[{}, undefined],
		[[], undefined],
		[{ image: [] }, undefined],
		[{ image: url(A) }, [A]],
		[{ image: [A, url(B)] }, [A, B]],
		[{ image: A }, [A]],
		[A, [A]],
		[
			[A, B],
			[A, B],
		],
		[
			[url(A), B],
			[A, B],
		],
		[url(A), [A]],
		[{ url: A }, [A]],
	])('a list of images of another shape is read where its meaning is plain: %j', (given, sent) => {
		const body = (model: string, more: object) => plan({ model, ...more }).body;
		expect(body('with-images', { images: given }).image_urls).toEqual(sent);
		const asVideos = JSON.parse(JSON.stringify(given ?? null).replaceAll('"image":', '"video":')) as never;
		expect(body('with-roles', { videos: asVideos }).videos).toEqual(sent);
	});

	test.each<[unknown, string]>([
		[5, '5'],
		[true, 'true'],
		[[5, null], '[5,null]'],
		[{ image: [null] }, '[null]'],
		[{ image: 5 }, '5'],
		[{ other: [{ url: A }] }, '{"other":[{"url":"https://a.example/a.png"}]}'],
		[{ link: A }, '{"link":"https://a.example/a.png"}'],
		[[{ href: A }], '[{"href":"https://a.example/a.png"}]'],
		[[[A]], '[["https://a.example/a.png"]]'],
	])('a list of images of any other shape is refused, not left out: %j', (given, value) => {
		expect(reasonsOf({ model: 'with-images', images: given } as never)).toEqual([
			['listOfWrongShape', { label: 'Images', value, row: 'image' }],
		]);
		expect(reasonsOf({ model: 'with-roles', videos: { video: [given] } } as never)).toHaveLength(1);
	});

	test.each(['text', ''])('a text that is no URL is no image: %j', (given) => {
		expect(reasonsOf({ model: 'with-images', images: given })).toHaveLength(1);
	});

	test('an expression on the whole list that gives nothing is refused', () => {
		const stored = { images: '={{ $json.pictures }}' };
		expect(reasonsOf({ model: 'with-images', images: undefined }, { stored })).toEqual([
			['expressionGaveNothing', { label: 'Images' }],
		]);
		expect(plan({ model: 'with-images', images: null }, { stored }).body).toEqual({ model: 'with-images' });
	});

	test.each<[string, IDataObject, string]>([
		['text', { optionalFields: 'style' }, 'Optional Fields is "style"'],
		['a list', { optionalFields: ['style'] }, 'Optional Fields is ["style"]'],
		['text', { options: 'additionalFields' }, 'Options is "additionalFields"'],
		['a list', { options: [{ additionalFields: '{}' }] }, 'Options is [{"additionalFields":"{}"}]'],
	])('a collection that is %s is refused, as what was added would be missing: %j', (_title, given, says) => {
		expect(() => plan({ model: 'plain', prompt: 'a', ...given })).toThrow(`${says}, which is not an object`);
	});

	test.each(['asset://pa_1', 'asset://grp/pa_1', 'asset://my asset', 'asset://人'])(
		'the contract sets no form of the ID of an asset: %s is one',
		(reference) => {
			expect(plan({ model: 'with-roles', ...rows(url(reference)) }).body.image_urls).toEqual([reference]);
		},
	);

	test.each(['asset://', 'asset:// ', 'ASSET://pa_1'])('%j names no asset', (reference) => {
		expect(reasonsOf({ model: 'with-roles', ...rows(url(reference)) })).toMatchObject([['notAnAssetReference', {}]]);
	});

	test('a number in a text field is a number of the body', () => {
		expect(plan({ model: 'with-images', steps: '5' }).body).toEqual({ model: 'with-images', steps: 5 });
	});

	test('a list of URLs is sent as texts', () => {
		const video = [{ url: ` ${A} ` }, { url: [B, C] }];
		expect(plan({ model: 'with-roles', videos: { video } }).body).toEqual({ model: 'with-roles', videos: [A, B, C] });
	});

	test('roles go with their images where the model has them', () => {
		const { body, unused } = plan({ model: 'with-roles', ...rows(url(A, ' last_frame '), url(B, 'first_frame')) });
		expect(body.image_with_roles).toEqual([
			{ url: A, role: 'last_frame' },
			{ url: B, role: 'first_frame' },
		]);
		expect(unused).toEqual([]);
		expect(plan({ model: 'with-roles', ...rows(url(A, ''), url(B)) }).body.image_urls).toEqual([A, B]);
		const wrong = rows({ ...url(A), role: {} });
		expect(reasonsOf({ model: 'with-roles', ...wrong })).toMatchObject([['notText', { label: 'Images: Role' }]]);
	});

	test('roles that the position says anyway are left out where the model has none, and others are refused', () => {
		const { body, unused } = plan({ model: 'with-images', ...rows(url(A, 'first_frame'), url(B, 'last_frame')) });
		expect([body.image_urls, body.image_with_roles, unused]).toEqual([[A, B], undefined, ['Role']]);
		expect(plan({ model: 'with-images', ...rows(url(A), url(B, 'last_frame')) })).toMatchObject({
			body: { image_urls: [A, B] },
			unused: ['Role'],
		});
		expect(reasonsOf({ model: 'with-images', ...rows(url(A), url(B, 'first_frame')) })).toEqual([
			['roleNotForModel', { label: 'Image 2', role: 'First Frame', model: 'with-images' }],
		]);
		expect(reasonsOf({ model: 'with-images', ...rows(url(A, 'other')) })).toMatchObject([
			['roleNotForModel', { role: 'other' }],
		]);
	});
});

describe('what is said of a request', () => {
	test('a hint says how many images are sent, and that a prompt names one that is not there', () => {
		const { body, hints } = plan({ model: 'with-images', prompt: '<<<image_4>>>', ...rows(url(A), url(B), url(C)) });
		expect(body.image_urls).toEqual([A, B]);
		expect(hints).toEqual([HINTS.firstImages({ count: 2, model: 'with-images' }), HINTS.imageNotThere()]);
	});

	test('a hint names a choice that does not go with the others', () => {
		const hidden = field('quality', { displayOptions: { show: { size: ['large'] } } });
		const models = [model('m', [choice('size', ['small', 'large'], { default: 'small' }), hidden])];
		const { body, hints } = plan({ model: 'm', quality: 'best', size: 'small' }, { models });
		expect(body).toEqual({ model: 'm', size: 'small' });
		expect(hints).toEqual([HINTS.notSentWithOthers({ label: 'QUALITY' })]);
	});
});

describe('what is refused with more than the model knows', () => {
	test('an asset names the models that take one', () => {
		const takers = [...assetTakers(), CUSTOM_MODEL_LABEL];
		expect(reasonsOf({ model: 'with-images', ...rows(url('asset://pa_1')) })).toEqual([
			[
				'assetNotAccepted',
				{
					label: 'Images',
					value: '"asset://pa_1"',
					model: 'with-images',
					takers: `${takers.slice(0, -1).join(', ')} and ${CUSTOM_MODEL_LABEL}`,
				},
			],
		]);
	});

	test('a field that the model does not have names those that have it', () => {
		const rules = [{ kind: 'absent', of: 'image_urls', label: 'Images', advice: '' } as const];
		const models = [model('m', [field('prompt')], { rules })];
		expect(modelsWith('audio')).toEqual(['alpha-video-1-5-pro', 'beta-v3-omni', 'delta-2.6-flash']);
		const known = modelsWith('image_urls');
		const [[name, data]] = reasonsOf({ model: 'm', options: { additionalFields: { image_urls: [A] } } }, { models });
		expect([name, data]).toMatchObject(['fieldNotForModel', { path: 'image_urls' }]);
		expect((data as { takers: string }).takers.split(/, | and /)).toEqual(known);
	});

	test('an empty field that holds an expression is said to get nothing from it, also when it is not the first mistake', () => {
		const models = [model('m', [field('prompt', { required: true }), field('title', { required: true })])];
		const empty = (label: string) => ['fieldEmpty', expect.objectContaining({ label })];
		const stored = { title: '={{ $json.nothing }}' };
		const given = { model: 'm', prompt: '', title: '' };
		expect(reasonsOf(given, { models })).toEqual([empty('PROMPT'), empty('TITLE')]);
		expect(reasonsOf(given, { models, stored })).toEqual([
			empty('PROMPT'),
			['expressionGaveNothing', { label: 'TITLE' }],
		]);
	});

	test('any other mistake is said as it is, also of an expression', () => {
		for (const stored of [{}, { size: '={{ "huge" }}' }])
			expect(reasonsOf({ model: 'plain', prompt: 'a', size: 'huge' }, { stored })).toMatchObject([
				['valueNotAllowed', { label: 'SIZE' }],
			]);
	});
});

describe('values of other models that are left in the node', () => {
	const other = model(
		'other',
		[
			field('tone'),
			field('depth', { type: 'number', default: 3 }),
			field('secret', { inOptions: true }),
			...PLAIN.fields,
		],
		{ optionalFields: [field('grain')] },
	);
	const twin = model('twin', [field('depth', { type: 'number', default: 4 }), field('tone')], {
		optionalFields: [field('style')],
	});
	const models = [PLAIN, other, twin];
	const unused = (more: IDataObject) => plan({ model: 'plain', prompt: 'a', ...more }, { models }).unused;

	test.each<[string, IDataObject, string[]]>([
		['none', {}, []],
		['a value', { tone: 'warm' }, ['TONE']],
		['an empty one', { tone: '' }, []],
		['the default of one model', { depth: 3 }, []],
		['the default of another', { depth: 4 }, []],
		['another value', { depth: 5, tone: 'warm' }, ['TONE', 'DEPTH']],
		['an empty one, where the default is another', { depth: '' }, []],
		['the default of a field of another name', { tone: 'small' }, ['TONE']],
		['one of the Options', { secret: 'x' }, []],
		['one of its own', { size: 'large' }, []],
		['an optional one', { optionalFields: { grain: '' } }, ['GRAIN']],
		['an optional one of its own', { optionalFields: { style: 'x' } }, []],
		['the name of an optional one among the others', { grain: 'x' }, []],
	])('a value of another model is named, unless it is a default: %s', (_, stored, labels) => {
		expect(unused(stored).sort()).toEqual([...labels].sort());
	});

	test('a value of another model is named, too, where the model has no optional fields', () => {
		const models = [model('bare', [field('prompt')]), other];
		const given = { model: 'bare', optionalFields: { grain: 'x' } };
		expect(plan(given, { models }).unused).toEqual(['GRAIN']);
	});
});
