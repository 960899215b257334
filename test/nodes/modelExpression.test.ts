/** Every value counts the same, typed in or given by an expression: of fields, and of the model that the form is for. */
import type { IDataObject } from 'n8n-workflow';
import { withValue } from '../support/goldenCases';
import { sampleOf } from '../support/goldenSamples';
import {
	goldenModels,
	goldens,
	optionsOf,
	type Field,
	type GoldenModel,
	type Parameters,
	type Value,
} from '../support/goldens.mts';
import { quickSandbox, runGateway, type Sandbox } from '../support/nodes.mts';

let sandbox: Sandbox;
beforeAll(async () => {
	sandbox = await quickSandbox();
});
afterAll(async () => await sandbox.close());
beforeEach(() => sandbox.reset());

const hintsOf = (task: Awaited<ReturnType<typeof runGateway>>['task']) =>
	(task?.hints ?? []).map(({ message }) => message).filter((message) => /not sent/i.test(message));

/** The request for one item, and n8n's hints about values that are not in it. */
async function send(kind: GoldenModel['kind'], parameters: Parameters, model: string, byExpression: boolean) {
	sandbox.reset();
	sandbox.addAsset({ id: 'pa_123' });
	const { task, error } = await runGateway(
		kind,
		sandbox,
		{
			operation: 'generate',
			...(parameters as IDataObject),
			model: byExpression ? '={{ $json.model }}' : model,
			wait: 'dontWait',
		},
		{ items: [{ json: { model } }] },
	);
	return { message: error?.message, body: sandbox.tasks[0]?.body, notSent: hintsOf(task) };
}

const whenOf = ({ when }: Field) =>
	Object.fromEntries(Object.entries(when).map(([parameter, values]) => [parameter, values[0]]));

/** The parameters that make the form show the field, with a value that it does not start with. */
function filledIn({ minimal }: GoldenModel, field: Field, value: Value): Parameters {
	return withValue({ ...minimal, ...field.with, ...whenOf(field) }, field.parameter, value);
}

/** Each allowed value, or one where there are more than can be listed. */
const valuesOf = (field: Field): Value[] => {
	const values = optionsOf(field).map(([value]) =>
		field.type === 'boolean' && value !== 'default' ? value === 'true' : value,
	);
	return values.length > 0 ? values : [sampleOf(field)];
};

describe.each(goldenModels)('$id is sent the same, chosen from the list or given by an expression', (golden) => {
	const { kind, id } = golden;
	const cases = golden.fields.flatMap((field) =>
		valuesOf(field).map((value) => ({
			name: `${field.label}: ${JSON.stringify(value)}`,
			parameters: filledIn(golden, field, value),
		})),
	);

	test.each([{ name: 'nothing but what is needed', parameters: golden.minimal }, ...cases, ...golden.bodies])(
		`${id} is sent the same, chosen from the list or given by an expression: $name`,
		async ({ parameters }) => {
			const fromList = await send(kind, parameters, id, false);
			expect(fromList).toMatchObject({ message: undefined, body: { model: id }, notSent: [] });
			const { message, body } = await send(kind, parameters, id, true);
			expect({ message, body }).toEqual({ message: undefined, body: fromList.body });
		},
	);
});

/** Fields of one label in the forms of two models: what is entered in the one form must count for the other model. */
const pairs = goldenModels.flatMap((shown) =>
	goldenModels
		.filter((used) => used.kind === shown.kind && used.id !== shown.id)
		.flatMap((used) =>
			shown.fields.flatMap((field) => {
				const twin = used.fields.find(({ label, type }) => label === field.label && type === field.type);
				if (twin === undefined || twin.path === 'prompt') return [];
				const shared = valuesOf(field).filter((value) => isValueOf(twin, value));
				return shared.map((value) => ({
					name: `${field.label} ${JSON.stringify(value)}, entered in the form of ${shown.id}, for ${used.id}`,
					parameters: withValue({ ...used.minimal, ...twin.with, ...whenOf(twin) }, field.parameter, value),
					used,
					twin,
					value,
				}));
			}),
		),
);

function isValueOf(field: Field, value: Value): boolean {
	if (field.type === 'integer' && field.values === undefined)
		return Number(value) >= (field.min ?? -Infinity) && Number(value) <= (field.max ?? Infinity);
	return (
		optionsOf(field).length === 0 || valuesOf(field).includes(value) || ('open' in field && field.open !== undefined)
	);
}

const at = (body: unknown, path: string): unknown =>
	path.split('.').reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], body);

test.each(pairs)('what was entered counts: $name', async ({ parameters, used, twin, value }) => {
	const { message, body, notSent } = await send(used.kind, parameters, used.id, true);
	const isSaid = notSent.some((hint) =>
		hint
			.slice(0, -1)
			.split(/[:,] | and | (?:was|were) /)
			.includes(twin.label),
	);
	const urls = Array.isArray(value) ? value.map((row) => (row as { url: string }).url) : value;
	const expected = 'notSent' in twin && twin.notSent === value ? undefined : urls;
	expect({ message, sent: at(body, twin.path), isSaid }).toEqual({ message: undefined, sent: expected, isSaid: false });
});

const withVideo = { prompt: 'a', referenceVideo: 'base', referenceVideoUrl: 'https://example.com/a.mp4' };

test('audio next to a reference video, each set in the form of another model, is refused: nobody pays for a video without sound', async () => {
	const { message, body } = await send('video', { ...withVideo, audio: true }, 'beta-v3-omni', true);
	expect({ message, body }).toEqual({
		message: expect.stringMatching(/Audio and Reference Video cannot/),
		body: undefined,
	});
	expect(await send('video', { ...withVideo, audio: false }, 'beta-v3-omni', true)).toMatchObject({
		message: undefined,
	});
});

test('spaces around the ID of a model, as a sheet has them, do not count, as in every other text', async () => {
	const { message, body } = await send('video', { prompt: 'a' }, ' beta-v3\n', true);
	expect({ message, model: body?.model }).toEqual({ message: undefined, model: 'beta-v3' });
});

test('of a field that shows no others, an expression that gives nothing means the default', async () => {
	const { message, body } = await send('video', { prompt: 'a', audio: '={{ $json.nothing }}' }, 'beta-v3-omni', false);
	expect(message).toBeUndefined();
	expect(body).not.toHaveProperty('audio');
});

test('a duration next to a base reference video, which sets its own, is not sent, and a hint says so', async () => {
	const { body, notSent } = await send('video', { ...withVideo, duration: 10 }, 'beta-v3-omni', true);
	expect(body).not.toHaveProperty('duration');
	expect(notSent).toEqual(['Duration (Seconds) was not sent: it cannot be combined with the other values.']);
});

test('fields of one label are one parameter in all models, and fields of one parameter have one label', () => {
	const videos = goldenModels.filter(({ kind }) => kind === 'video').flatMap(({ fields }) => fields);
	const oneOf = (key: 'label' | 'parameter', other: 'label' | 'parameter') =>
		videos.filter((field) => videos.some((twin) => twin[key] === field[key] && twin[other] !== field[other]));
	expect(oneOf('label', 'parameter')).toEqual([]);
	expect(oneOf('parameter', 'label')).toEqual([]);
});

/** n8n allows no expression there. */
const FIXED = ['resource', 'operation', 'wait'];

/** The parameters, each value in them as an expression that gives it. */
function asExpressions(value: unknown, name = ''): unknown {
	if (FIXED.includes(name) || (typeof value === 'string' && value.startsWith('='))) return value;
	if (Array.isArray(value)) return value.map((entry) => asExpressions(entry));
	if (typeof value === 'object' && value !== null)
		return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, asExpressions(entry, key)]));
	return `={{ ${JSON.stringify(value)} }}`;
}

/** n8n fills in the default of another resolution then: the node refuses it, and nothing is bought. */
const DEFAULT_OF_ANOTHER_CHOICE = '4K starts at 16:9, because 1:1 is unsupported there';

type Written = { kind: 'avatar' | 'token' | 'image' | 'video'; name: string; parameters: Parameters };
const written = goldens.flatMap((golden): Written[] => {
	if (golden.kind === 'avatar' || golden.kind === 'token')
		return golden.bodies.map(({ name, parameters }) => ({ kind: golden.kind, name, parameters }));
	const kind = golden.kind === 'image' ? 'image' : 'video';
	const bodies = golden.bodies.filter(({ name }) => name !== DEFAULT_OF_ANOTHER_CHOICE);
	return bodies.map(({ name, parameters }) => ({
		kind,
		name: `${golden.id}: ${name}`,
		parameters: { operation: 'generate', wait: 'dontWait', model: golden.id, ...parameters } satisfies Record<
			string,
			Value
		>,
	}));
});

const post = () => sandbox.requests.find(({ method, path }) => method === 'POST' && !path.includes('uploads'));

test.each(written)(
	'$kind, $name: the request is the same with all values given by expressions',
	async ({ kind, parameters }) => {
		await runGateway(kind, sandbox, parameters as IDataObject);
		const typed = post();
		expect(typed).toBeDefined();
		sandbox.reset();
		sandbox.addAsset({ id: 'pa_123' });
		await runGateway(kind, sandbox, asExpressions(parameters) as IDataObject);
		expect([post()?.path, post()?.body]).toEqual([typed?.path, typed?.body]);
	},
);
