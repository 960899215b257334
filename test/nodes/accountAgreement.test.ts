/** Two readings of the contract check each other, as in agreement.test.ts, for what is no generation: tokens and assets. */
import fc from 'fast-check';
import type { IDataObject, IExecuteFunctions, INode } from 'n8n-workflow';
import type { AvatarKind } from '../../core/avatars/records';
import { GatewayError } from '../../core/errors';
import type { JsonObject } from '../../core/json';
import { readUploadBody } from '../../nodes/Avatar/uploadForm';
import { Item, Parameters } from '../../nodes/run/item';
import { readBody } from '../../nodes/run/readBody';
import { tokenBody } from '../../nodes/Token/fields';
import { Bench, inner } from '../sandbox/helpers';
import { readPropertySettings } from '../support/propertySettings.mts';

const { seed, runs = 400, path } = readPropertySettings('account agreement');
const settings = { seed, numRuns: runs, path };
const bench = new Bench();
beforeEach(() => bench.sandbox.reset());
afterAll(async () => await bench.sandbox.close());

/** The body that the node would send; undefined when it refuses. */
function planned(plan: () => JsonObject): JsonObject | undefined {
	try {
		return plan();
	} catch (thrown) {
		expect(thrown).toBeInstanceOf(GatewayError);
		return undefined;
	}
}

/** An item whose form is filled in like this. */
function itemOf(parameters: IDataObject): Item {
	const context = {
		getNodeParameter: (name: string, _itemIndex: number, fallback: unknown) => parameters[name] ?? fallback,
		getTimezone: () => 'America/New_York',
	} as unknown as IExecuteFunctions;
	return new Item(new Parameters(context, { parameters } as unknown as INode), 0, { json: {} });
}

const said = async (url: string, body: JsonObject) => {
	const { json } = await bench.post(url, body);
	return json.success === false || json.error !== undefined ? (json.message ?? json.error) : undefined;
};

describe('tokens (contract 4.3)', () => {
	const seconds = fc.oneof(fc.constantFrom(-1, 0, -5, 1_000_000_000, 1_893_456_000_000), fc.integer());
	const units = fc.integer({ min: 0, max: 1_000_000 });
	const credits = fc.double({ min: 0, max: 1_000, noNaN: true, noDefaultInfinity: true });
	const models = fc.constantFrom('gamma-image-2', 'a, b', 'a,,b', ' ', '', 'beta-v3,gamma-image-2');
	const legal = {
		expired_time: seconds,
		remain_quota: units,
		remain_credits: credits,
		daily_credits: credits,
		monthly_credits: credits,
		unlimited_quota: fc.boolean(),
		model_limits_enabled: fc.boolean(),
		model_limits: models,
		group: fc.string(),
	};
	const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 50 });
	const named = name.filter((text) => text.trim() !== '' && [...text].length <= 50);
	const plan = (form: IDataObject, additionalFields: JsonObject) => {
		const options = { ...(form.options as object), additionalFields } as IDataObject;
		return readBody(itemOf({ quota: 'limited', expiry: 'never', ...form, options }), tokenBody);
	};

	test('whatever the contract allows, except negative amounts, can be sent in Additional Fields, and the sandbox takes it', async () => {
		await fc.assert(
			fc.asyncProperty(named, fc.record(legal, { requiredKeys: [] }), async (text, fields) => {
				const body = planned(() => plan({ name: 'Nightly', quota: 'unlimited' }, { ...fields, name: text }));
				// A list of models has no effect without its switch (contract 4.3).
				const enabled = fields.model_limits ? { model_limits_enabled: true } : {};
				expect(body).toEqual({ name: text, expired_time: -1, unlimited_quota: true, ...enabled, ...fields });
				expect({ body, said: await said('/v1/tokens', body as JsonObject) }).toEqual({ body, said: undefined });
			}),
			settings,
		);
	});

	test('the sandbox takes every token that the node lets through', async () => {
		const mostly = <T>(good: fc.Arbitrary<T>, bad: fc.Arbitrary<T>) =>
			fc.oneof({ weight: 5, arbitrary: good }, { weight: 1, arbitrary: bad });
		const odd = fc.oneof(seconds, credits, models, fc.constantFrom<unknown>('5', null, [], {}, true, 0.5, -5));
		const oddFields = fc.dictionary(fc.constantFrom(...Object.keys(legal), 'name', 'more'), odd, { maxKeys: 2 });
		const anyFields = mostly<JsonObject>(fc.record(legal, { requiredKeys: [] }), oddFields);
		const amount = mostly<unknown>(fc.integer({ min: 0, max: 1_000 }), odd);
		const anyOption = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: undefined });
		const anyForm = fc.record({
			name: mostly(named, fc.constantFrom('', ' ', 'x'.repeat(51))),
			expiry: fc.constantFrom('date', 'never'),
			expiresAt: mostly<unknown>(
				fc.integer({ min: 2e12, max: 9e12 }).map((atMs) => new Date(atMs).toISOString()),
				fc.oneof(fc.integer(), fc.integer({ min: 2e9, max: 9e12 }), odd),
			),
			quota: fc.constantFrom('limited', 'unlimited'),
			unit: fc.constantFrom('credits', 'usd', 'internalUnits'),
			amount,
			allowedModels: fc.array(mostly(fc.constant('beta-v3'), models), { maxLength: 2 }),
			otherModels: fc.array(mostly(fc.constant('gamma-image-2'), models), { maxLength: 2 }),
			options: fc.record({ dailyCredits: anyOption(amount), monthlyCredits: anyOption(amount), group: fc.string() }),
		});
		let sent = 0;
		await fc.assert(
			fc.asyncProperty(anyForm, anyFields, async (given, fields) => {
				const body = planned(() => plan(given as IDataObject, fields));
				if (body === undefined) return;
				sent += 1;
				expect({ body, said: await said('/v1/tokens', body) }).toEqual({ body, said: undefined });
			}),
			settings,
		);
		if (path === undefined) expect(sent).toBeGreaterThan(runs / 20);
	});
});

describe('assets (contract 4.6, 4.7)', () => {
	const prefix = '/v1/videos/alpha-video-2-0';
	const url = (kind: AvatarKind) => `${prefix}/${kind}-avatar/assets`;

	async function makeGroup(kind: AvatarKind): Promise<string> {
		if (kind === 'private')
			return String(inner((await bench.post(`${prefix}/private-avatar/groups`, {})).json, 'data').group_id);
		const { task_id: taskId } = (await bench.post(`${prefix}/real-avatar/verify-tasks`, {})).json;
		bench.sandbox.verify(String(taskId));
		const { vendor_token: token } = (await bench.get(`${prefix}/real-avatar/verify-tasks/${String(taskId)}`)).json;
		const result = `${prefix}/real-avatar/verify-results?task_id=${String(taskId)}&vendor_token=${String(token)}`;
		return String((await bench.get(result)).json.group_id);
	}

	function plan(kind: AvatarKind, form: IDataObject, options: IDataObject): JsonObject {
		const filled: IDataObject = { avatarKind: kind, assetType: 'image', ...form, options };
		return readUploadBody(itemOf(filled), kind).body;
	}

	const sourceUrl = 'https://example.com/face.png';

	test.each<[AvatarKind, string, IDataObject, JsonObject]>([
		['private', 'its group under another name', { groupIdBodyField: 'group' }, { group: '', asset_type: 'image' }],
		['real', 'its group under another name', { groupIdBodyField: 'group' }, { group: '', asset_type: 'image' }],
		['real', 'no type', { additionalFields: { asset_type: null } }, { group_id: '' }],
		[
			'real',
			'its file under another name',
			{ additionalFields: { source_url: null, asset_type: null, file_url: sourceUrl } },
			{ group_id: '', file_url: sourceUrl },
		],
	])('an asset of a %s avatar with %s is taken', async (kind, _title, options, wanted) => {
		const groupId = await makeGroup(kind);
		const body = plan(kind, { groupId, sourceUrl }, options);
		const names = Object.keys(wanted).map((name) => [name, wanted[name] === '' ? groupId : wanted[name]]);
		expect(body).toMatchObject(Object.fromEntries(names));
		expect(await said(url(kind), body)).toBeUndefined();
	});

	test.each<AvatarKind>(['private', 'real'])(
		'the sandbox takes every asset of a %s avatar that the node lets through',
		async (kind) => {
			const groupId = await makeGroup(kind);
			const value = fc.constantFrom<unknown>(
				null,
				'image',
				'audio',
				'text',
				'',
				5,
				sourceUrl,
				'ftp://a',
				'data:x',
				groupId,
			);
			const additional = fc.dictionary(fc.constantFrom('asset_type', 'source_url', 'tag', 'name'), value, {
				maxKeys: 3,
			});
			let sent = 0;
			await fc.assert(
				fc.asyncProperty(additional, fc.constantFrom('group_id', 'group'), async (fields, groupIdBodyField) => {
					const options = { groupIdBodyField, additionalFields: fields as IDataObject };
					const body = planned(() => plan(kind, { groupId, sourceUrl }, options));
					if (body === undefined) return;
					sent += 1;
					expect({ body, said: await said(url(kind), body) }).toEqual({ body, said: undefined });
				}),
				settings,
			);
			if (path === undefined) expect(sent).toBeGreaterThan(runs / 20);
		},
	);
});
