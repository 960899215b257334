/** Forms and checks of all models, against what their golden files say about each field. */
import type { IDataObject } from 'n8n-workflow';
import { Bench, IMAGES, VIDEOS } from '../sandbox/helpers';
import { kindOf, planRequest, refusalOf, shownProperties } from '../support/form';
import { casesOf, withValue } from '../support/goldenCases';
import { sampleOf } from '../support/goldenSamples';
import {
	decidingChoices,
	generating,
	goldenModels,
	isClosed,
	offeredOptions,
	shownFields,
	shownLabels,
	type Field,
	type Golden,
	type Parameters,
} from '../support/goldens.mts';
import type { Body } from '../support/parametersFor.mts';

describe.each(goldenModels)('the fields of $id', (golden) => {
	const { kind, id: model } = golden;
	const cases = casesOf(golden, goldenModels);
	const bench = new Bench({ balanceUsd: 1e9 });
	beforeEach(() => {
		bench.sandbox.reset();
		bench.sandbox.addAsset({ id: 'pa_123' });
	});

	test.each(cases.filter(({ message }) => message === undefined))(
		`${golden.id} accepts $name`,
		async ({ parameters, sent }) => {
			const { body } = planRequest(kind, { model, ...parameters });
			for (const [path, value] of Object.entries(sent))
				expect({ [path]: valueAt(body, path) }).toEqual({ [path]: value });
			const reply = await bench.post(kind === 'image' ? IMAGES : VIDEOS, body);
			expect(reply.json).toMatchObject({ object: 'generation.task' });
			expect(bench.sandbox.tasks).toMatchObject([{ model, unknownFields: [] }]);
		},
	);

	test.each(cases.filter(({ message }) => message !== undefined))(
		`${golden.id} refuses $name`,
		({ parameters, message }) => {
			expect(refusalOf(kind, { model, ...parameters })?.message).toBe(message);
		},
	);

	test.each(cases.filter(({ message, instead }) => message !== undefined && instead !== undefined))(
		`${golden.id} refuses $name, and says if Additional Fields would take it`,
		({ parameters, instead = {}, message = '' }) => {
			const { description = '' } = refusalOf(kind, { model, ...parameters }) ?? {};
			const isTaken = refusalOf(kind, { model, ...instead }) === undefined;
			expect({ message, isSaid: /in Additional Fields|use Additional Fields/.test(description) }).toEqual({
				message,
				isSaid: isTaken,
			});
		},
	);

	const choices = [{}, ...decidingChoices(golden).map(({ field, value }) => ({ [field.parameter]: value }))];
	test.each(choices)(`the fields of ${golden.id} are what the form shows with %j`, (chosen) => {
		// The editor does not show the hidden one behind a list.
		const all = shownProperties(kind, { model, ...chosen }).filter(({ type }) => type !== 'hidden');
		const labels = all.map(({ displayName }) => displayName);
		const properties = all.slice(labels.indexOf('Model') + 1, labels.indexOf('Wait'));
		expect(properties.map(({ displayName }) => displayName)).toEqual(shownLabels(golden, chosen));
		const details = new Map(properties.map((property) => [property.displayName, property]));
		for (const field of shownFields(golden, chosen)) {
			const { required = false, options = [] } = details.get(field.label) ?? {};
			expect({ label: field.label, required }).toEqual({ label: field.label, required: field.required });
			if (field.type === 'images')
				expect(options).toMatchObject([
					{ values: ['Source', 'URL', ...(field.roles ? ['Role'] : [])].map((displayName) => ({ displayName })) },
				]);
			if (isClosed(field)) expect(options.map(({ name }) => name)).toEqual(offeredOptions(field));
		}
	});
});

function valueAt(body: unknown, path: string): unknown {
	return path
		.split('.')
		.reduce(
			(value, key) =>
				typeof value === 'object' && value !== null
					? new Map<string, unknown>(Object.entries(value)).get(key)
					: undefined,
			body,
		);
}

/** The parameters of a form in which the other models were tried before: a value in each field that only they have. */
function leftOvers(golden: Golden): Field[] {
	const own = 'fields' in golden ? golden.fields.map(({ parameter }) => parameter) : [];
	const others = goldenModels.filter((other) => kindOf(other) === kindOf(golden)).flatMap(({ fields }) => fields);
	return others.filter(({ parameter }) => !own.includes(parameter));
}

describe.each(generating)('values of other models are left out: $id', (golden) => {
	const others = leftOvers(golden);
	const filled = (parameters: Parameters) => ({
		model: golden.id,
		...others.reduce((all, field) => withValue(all, field.parameter, sampleOf(field)), parameters),
	});

	test.each(golden.bodies)(`${golden.id} leaves out values of other models: $name`, ({ parameters, body }) => {
		expect(planRequest(kindOf(golden), filled(parameters)).body).toEqual(body);
	});
});

const A = 'https://a.example/a.png';
const CLIP = 'https://a.example/a.mp4';
const [EMPTY_PROMPT, TOO_MANY] = ['Prompt is empty', 'Images has 3 entries, but at most 2 are allowed'];
const ROLE = { url: A, role: 'last_frame' };
const NO_INPUT = 'One of Images and Reference Video URLs is required';

test.each<[model: string, prompt: string, additionalFields: Body, message: string | undefined]>([
	['beta-v3', '', {}, EMPTY_PROMPT],
	['beta-v3', '', { prompt: ' ' }, undefined],
	['beta-v3', '', { text: 'a' }, undefined],
	['beta-v3', '', { image_with_roles: [ROLE] }, undefined],
	['beta-v3', '', { image: { url: '' } }, undefined],
	['beta-v3', 'a', { image_urls: [A, A, A] }, undefined],
	['delta-2.6-flash', 'a', { image: { strength: 1 }, images: 5 }, NO_INPUT],
	['delta-2.6-flash', 'a', { images: [A] }, undefined],
	['delta-2.6-flash', 'a', { images: [A], metadata: { reference_urls: [CLIP] } }, undefined],
	['alpha-video-1-5-pro', 'a', { image_with_roles: [ROLE, ROLE] }, 'Two images have the role Last Frame'],
	['alpha-video-1-5-pro', 'a', { image_with_roles: [ROLE, ROLE, ROLE] }, '3 images have the role Last Frame'],
	[
		'alpha-video-1-5-pro',
		'a',
		{ image_urls: [A], image_with_roles: [ROLE] },
		'Role is By Position for some images, and set for others',
	],
	['beta-v3-omni', 'a', { audio: false, video_list: [{ video_url: CLIP, refer_type: 'base' }] }, undefined],
	['beta-video-o1', 'a', { audio: false }, undefined],
	['beta-video-o1', 'a', { audio: true }, 'beta-video-o1 does not support Audio (audio)'],
])(
	'the rules between fields of %s see a prompt %j and what Additional Fields give: %j',
	(model, prompt, additionalFields, message) => {
		const parameters = { model, prompt, options: { additionalFields } };
		expect(refusalOf('video', parameters as IDataObject)?.message).toBe(message);
	},
);

test('the limit of a form is one of the form, and what is switched off in it goes with a video from Additional Fields', () => {
	const images = { image: [{ url: A }, { url: A }, { url: A }] };
	expect(refusalOf('video', { model: 'beta-v3', prompt: 'a', images })?.message).toBe(TOO_MANY);
	const video_list = [{ video_url: CLIP, refer_type: 'base' }];
	const parameters = {
		model: 'beta-v3-omni',
		prompt: 'a',
		audio: false,
		options: { additionalFields: { video_list } },
	};
	expect(planRequest('video', parameters).body).not.toHaveProperty('audio');
	expect(planRequest('video', { ...parameters, options: {} }).body).toHaveProperty('audio', false);
});

test('an unknown model is named, with what there is', () => {
	const refusal = refusalOf('video', { model: 'epsilon', prompt: 'a' });
	expect(refusal?.message).toBe('Model is "epsilon", which this node does not know');
	for (const { id } of goldenModels.filter(({ kind }) => kind === 'video')) expect(refusal?.description).toContain(id);
	expect(refusal?.description).toMatch(/, or Other Model \(by ID\)/);
});
