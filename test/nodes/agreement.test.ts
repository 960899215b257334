import fc from 'fast-check';
import type { IDataObject } from 'n8n-workflow';
import { allowedValues, type FieldSpec, type ModelSpec } from '../../core/models/model';
import { ASSET_ID, type Dice } from '../../sandbox/rules/fieldMaker.mts';
import { makeRequest } from '../../sandbox/rules/makeRequest.mts';
import { readPropertySettings } from '../support/propertySettings.mts';
import { Bench, IMAGES, VIDEOS } from '../sandbox/helpers';
import { MODELS, planRequest, refusalOf, type Kind } from '../support/form';
import { goldenModels } from '../support/goldens.mts';
import { parametersFor, type Body } from '../support/parametersFor.mts';

/**
 * Two readings of docs/service/contract.md check each other: whatever the node lets through, the sandbox, which shares
 * no code with it, must accept; and whatever the rules of the sandbox allow, the node must be able to send.
 */
const mostly = (good: string[], others: string[]) =>
	fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...good) }, { weight: 1, arbitrary: fc.constantFrom(...others) });
const IMAGE = mostly(
	['https://example.com/a.png', 'http://example.com/b.jpg'],
	['asset://pa_123', 'asset://', 'data:image/png;base64,AA==', '', 'a.png'],
);
const VIDEO = mostly(['https://example.com/a.mp4', 'http://example.com/b.mp4'], ['asset://pa_123', 'clip.mp4', '']);
const PROMPT = mostly(['a cat'], ['<<<image_1>>> jumps', '<<<image_1>>> and <<<image_2>>>', '<<<image_0>>>', ' ']);
const NUMBER = fc.oneof(fc.integer({ min: -1, max: 20 }), fc.constantFrom('5', '10', 'abc', '', 4.5));
const ROLE = fc.constantFrom('', 'first_frame', 'last_frame', 'reference_image');
const ENTRY = fc.record(
	{ url: IMAGE, role: ROLE, video_url: fc.oneof(VIDEO, IMAGE), refer_type: fc.constantFrom('base', 'feature', 'none') },
	{ requiredKeys: [] },
);
const METADATA = fc.record(
	{
		resolution: fc.constantFrom('1080p', '4K'),
		audio: NUMBER,
		reference_urls: fc.array(VIDEO, { maxLength: 2 }),
		seed: NUMBER,
	},
	{ requiredKeys: [] },
);
const ENTRIES = fc.oneof(fc.array(ENTRY, { maxLength: 2 }), METADATA);
const WIRE_VALUES = fc.oneof(
	NUMBER,
	fc.boolean(),
	fc.constant(null),
	fc.constantFrom('16:9', '1080p', 'std', '4K'),
	fc.array(IMAGE, { maxLength: 2 }),
	ENTRIES,
	fc.constant({ url: 'x' }),
);

function valuesOf(field: FieldSpec): fc.Arbitrary<unknown> {
	if (field.bodyPath === 'prompt') return PROMPT;
	if (field.shape === 'urls') return fc.record({ video: fc.array(fc.record({ url: VIDEO }), { maxLength: 2 }) });
	if (field.shape !== undefined)
		return fc.record({ image: fc.array(fc.record({ url: IMAGE, role: ROLE }), { maxLength: 3 }) });
	if (field.format === 'url') return VIDEO;
	const allowed = allowedValues(field);
	if (allowed) return fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...allowed) }, { weight: 1, arbitrary: NUMBER });
	if (field.type === 'boolean') return fc.oneof(fc.boolean(), fc.constantFrom('true', 'loud'));
	return field.type === 'number' ? NUMBER : fc.constantFrom('16:9', '1080p', 'yes');
}

function parametersOf(model: ModelSpec): fc.Arbitrary<IDataObject> {
	const fields = Object.fromEntries(model.fields.map((field) => [field.name, valuesOf(field)]));
	const roots = [...model.fields, ...(model.otherFields ?? [])].map(({ bodyPath }) => bodyPath.split('.')[0]);
	const additionalFields = fc.oneof(
		{ weight: 3, arbitrary: fc.constant({}) },
		{
			weight: 1,
			arbitrary: fc.dictionary(
				fc.constantFrom(...roots, 'image_with_roles', 'reference_images', 'images', 'image_url'),
				WIRE_VALUES,
				{ maxKeys: 2 },
			),
		},
	);
	return fc.tuple(fc.record(fields, { requiredKeys: [] }), additionalFields).map(([entered, extra]) => ({
		prompt: 'a cat',
		...entered,
		options: { additionalFields: JSON.stringify(extra) },
		model: model.id,
	})) as fc.Arbitrary<IDataObject>;
}

const cases = Object.entries(MODELS).flatMap(([kind, models]) =>
	models.map((model) => ({ kind: kind as Kind, id: model.id, model })),
);

const { seed, runs, path } = readPropertySettings('agreement');

test.each(cases)('the sandbox accepts whatever the node lets through: $id', async ({ kind, model }) => {
	const bench = new Bench({ balanceUsd: 1e9 });
	bench.sandbox.addAsset({ id: 'pa_123' });
	await fc.assert(
		fc.asyncProperty(parametersOf(model), async (parameters) => {
			// Only what is sent counts as a run.
			fc.pre(refusalOf(kind, parameters) === undefined);
			const { body } = planRequest(kind, parameters);
			const reply = await bench.post(kind === 'image' ? IMAGES : VIDEOS, body);
			expect({ body, said: reply.json.message }).toEqual({ body, said: undefined });
		}),
		{ numRuns: runs ?? 50, seed, path },
	);
});

interface Exception {
	why: string;
	sent: (body: Body) => Body;
}

/** The form does not even have it then. */
const SOUND_OFF: Exception = {
	why: 'sound that is off says nothing next to a reference video, and a strict service might read it as both (contract 4.4.2, rule 4)',
	sent: ({ audio, ...body }) =>
		audio === false && Array.isArray(body.video_list) && body.video_list.length > 0
			? body
			: { ...body, ...(audio === undefined ? {} : { audio }) },
};

/** The bodies that the contract allows and the node does not send like that; the shorter the list, the better. */
const WANTED_EXCEPTIONS: Exception[] = [
	{
		why: 'alpha-video-1-5-pro uses the first two images: more are neither uploaded nor sent (contract 4.4.1)',
		sent: (body) =>
			body.model === 'alpha-video-1-5-pro' && Array.isArray(body.image_urls)
				? { ...body, image_urls: body.image_urls.slice(0, 2) }
				: body,
	},
	SOUND_OFF,
	{ why: 'null in Additional Fields removes a field', sent: (body) => withoutNull(body) },
];

function withoutNull(body: Body): Body {
	const fields = Object.entries(body).filter(([, value]) => value !== null);
	return Object.fromEntries(
		fields.map(([name, value]) => [
			name,
			typeof value === 'object' && !Array.isArray(value) ? withoutNull(value as Body) : value,
		]),
	);
}

function diceOf(draw: fc.GeneratorValue): Dice {
	return {
		pick: (choices) => choices[draw(fc.nat, { max: choices.length - 1 })],
		integer: (min, max) => draw(fc.integer, { min, max }),
		text: (max) => draw(fc.string, { unit: 'grapheme', maxLength: Math.min(max, 40) }),
	};
}

describe('the node can send whatever the contract allows', () => {
	test.each(goldenModels)('the node can send whatever the contract allows: $id', async (golden) => {
		const bench = new Bench({ balanceUsd: 1e12 });
		const { kind } = golden;
		let made = 0;
		await fc.assert(
			fc.asyncProperty(fc.gen(), async (draw) => {
				if (made++ % 100 === 0) {
					bench.sandbox.reset();
					bench.sandbox.addAsset({ id: ASSET_ID });
				}
				const body = makeRequest(golden.id, diceOf(draw)) as Body;
				const reply = await bench.post(kind === 'image' ? IMAGES : VIDEOS, body);
				expect({ body, said: reply.json.message }).toEqual({ body, said: undefined });

				const wanted = WANTED_EXCEPTIONS.reduce((sent, exception) => exception.sent(sent), body);
				const parameters = parametersFor(golden, SOUND_OFF.sent(body)) as IDataObject;
				expect({ parameters, refusal: refusalOf(kind, parameters) }).toEqual({ parameters, refusal: undefined });
				expect(planRequest(kind, parameters).body).toEqual(wanted);
			}),
			{ numRuns: runs ?? 200, seed, path },
		);
	});
});
