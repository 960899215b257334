import fc from 'fast-check';
import type { IDataObject } from 'n8n-workflow';
import { allFields, allowedValues, type FieldSpec, type ModelSpec } from '../../core/models/spec';
import { Bench, IMAGES, VIDEOS } from '../sandbox/helpers';
import { MODELS, planRequest, refusalOf, type Kind } from '../support/form';

/**
 * Two readings of docs/service/contract.md check each other: whatever the node lets through, the sandbox, which shares
 * no code with it, must accept.
 */
const IMAGE = fc.constantFrom('https://example.com/a.png', 'http://example.com/b.jpg', 'asset://pa_123', 'data:image/png;base64,AA==', '', 'a.png');
const VIDEO = fc.constantFrom('https://example.com/a.mp4', 'http://example.com/b.mp4', 'clip.mp4', '');
const PROMPT = fc.constantFrom('a cat', '<<<image_1>>> jumps', '<<<image_1>>> and <<<image_2>>>', '<<<image_0>>>', ' ');
const NUMBER = fc.oneof(fc.integer({ min: -1, max: 20 }), fc.constantFrom('5', '10', 'abc', '', 4.5));
const ROLE = fc.constantFrom('', 'first_frame', 'last_frame', 'reference_image');
const WIRE_VALUES = fc.oneof(NUMBER, fc.boolean(), fc.constant(null), fc.constantFrom('16:9', '1080p', 'std', '4K'), fc.array(IMAGE, { maxLength: 2 }), fc.constant({ url: 'x' }));

/** The contract does not show the ratios of beta-v3: the node passes any text, the sandbox wants the form W:H. */
const UNDECIDED = /^aspect_ratio ".*" is not well formed$/;

function valuesOf(field: FieldSpec): fc.Arbitrary<unknown> {
	if (field.wire === 'prompt') return PROMPT;
	if (field.shape === 'urls') return fc.record({ video: fc.array(fc.record({ url: VIDEO }), { maxLength: 2 }) });
	if (field.shape !== undefined) return fc.record({ image: fc.array(fc.record({ url: IMAGE, role: ROLE }), { maxLength: 3 }) });
	if (field.format === 'url') return VIDEO;
	const allowed = allowedValues(field);
	if (allowed) return fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...allowed) }, { weight: 1, arbitrary: NUMBER });
	if (field.type === 'boolean') return fc.oneof(fc.boolean(), fc.constantFrom('true', 'loud'));
	return field.type === 'number' ? NUMBER : fc.constantFrom('16:9', '1080p', 'yes');
}

function parametersOf(model: ModelSpec): fc.Arbitrary<IDataObject> {
	const record = (fields: FieldSpec[]) =>
		fc.record(Object.fromEntries(fields.map((field) => [field.name, valuesOf(field)])), { requiredKeys: [] });
	const roots = allFields(model).map(({ wire }) => wire.split('.')[0]);
	const additionalFields = fc.oneof(
		{ weight: 3, arbitrary: fc.constant({}) },
		{ weight: 1, arbitrary: fc.dictionary(fc.constantFrom(...roots), WIRE_VALUES, { maxKeys: 1 }) },
	);
	return fc
		.tuple(record(model.fields), record(model.optionalFields ?? []), additionalFields)
		.map(([fields, optionalFields, extra]) => ({
			prompt: 'a cat',
			...fields,
			optionalFields,
			options: { additionalFields: JSON.stringify(extra) },
			model: model.id,
		})) as fc.Arbitrary<IDataObject>;
}

const cases = Object.entries(MODELS).flatMap(([kind, models]) => models.map((model) => ({ kind: kind as Kind, id: model.id, model })));

test.each(cases)('the sandbox accepts whatever the node lets through: $id', async ({ kind, model }) => {
	const bench = new Bench({ balanceUsd: 1e9 });
	bench.sandbox.addAsset({ id: 'pa_123' });
	let sent = 0;
	await fc.assert(
		fc.asyncProperty(parametersOf(model), async (parameters) => {
			if (refusalOf(kind, parameters)) return;
			sent += 1;
			const { body } = planRequest(kind, parameters);
			const reply = await bench.post(kind === 'image' ? IMAGES : VIDEOS, body);
			if (UNDECIDED.test(String(reply.json.message))) return;
			expect({ body, said: reply.json.message }).toEqual({ body, said: undefined });
		}),
		{ numRuns: 600, seed: 7 },
	);
	expect(sent).toBeGreaterThan(20);
});
