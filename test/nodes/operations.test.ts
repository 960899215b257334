/**
 * The operations that create or read things other than tasks, by themselves: the form of each, the order that it makes of a
 * form, and what it reads. n8n's part is its own function that fills in the defaults of a form.
 */
import {
	NodeHelpers,
	type IDataObject,
	type IExecuteFunctions,
	type INode,
	type INodeExecutionData,
	type INodeParameters,
	type INodeProperties,
	type INodePropertyOptions,
} from 'n8n-workflow';
import { asGatewayError } from '../../core/errors';
import type { Order } from '../../core/orders/order';
import { Avatar } from '../../nodes/Avatar/Avatar.node';
import { resources } from '../../nodes/Avatar/operations';
import { assetProduct } from '../../nodes/Avatar/products/assetProduct';
import { groupProduct } from '../../nodes/Avatar/products/groupProduct';
import { verificationProduct } from '../../nodes/Avatar/products/verificationProduct';
import { verificationResultProduct } from '../../nodes/Avatar/products/verificationResultProduct';
import { Balance } from '../../nodes/Balance/Balance.node';
import { operations as balances } from '../../nodes/Balance/operations';
import { ImageGeneration } from '../../nodes/ImageGeneration/ImageGeneration.node';
import { uploadImage } from '../../nodes/ImageGeneration/operations/uploadImage';
import { hashOf } from '../../nodes/run/hashOf';
import { HINTS } from '../../nodes/run/hints';
import { Item, Parameters, type Read } from '../../nodes/run/item';
import type { Operation } from '../../nodes/run/operation';
import { sharing, type Run } from '../../nodes/run/run';
import { operations as tokens } from '../../nodes/Token/operations';
import { Token } from '../../nodes/Token/Token.node';
import { tokenProduct } from '../../nodes/Token/tokenProduct';
import { json, scriptedClient } from '../core/support';
import { goldens } from '../support/goldens.mts';

const AVATARS = new Avatar().description;
const TOKENS = new Token().description;
const BALANCES = new Balance().description;
const IMAGES = new ImageGeneration().description;

/** Each operation, with the node that it is of. */
const OPERATIONS = new Map<string, { operation: Operation; description: typeof AVATARS; resource?: string }>([
	...resources.flatMap(({ option: { value: resource }, operations }) =>
		operations.map((operation): [string, { operation: Operation; description: typeof AVATARS; resource: string }] => [
			`${String(resource)} ${String(operation.option.value)}`,
			{ operation, description: AVATARS, resource: String(resource) },
		]),
	),
	[`token ${String(tokens[0].option.value)}`, { operation: tokens[0], description: TOKENS }],
	...balances.map((operation): [string, { operation: Operation; description: typeof AVATARS }] => [
		`balance ${String(operation.option.value)}`,
		{ operation, description: BALANCES },
	]),
	[`image ${String(uploadImage.option.value)}`, { operation: uploadImage, description: IMAGES }],
]);

const operationOf = (name: string) => {
	const found = OPERATIONS.get(name);
	if (found === undefined) throw new Error(`There is no operation ${name}`);
	return found;
};

interface Around {
	input?: INodeExecutionData;
	/** The answers of the service, in turn. */
	answers?: object[];
	helpers?: object;
}

/** The work that an operation makes of these parameters, as a workflow stores them. */
async function prepare(name: string, parameters: object, { input, answers = [{}], helpers = {} }: Around = {}) {
	const { operation, description, resource } = operationOf(name);
	const stored = { ...(resource && { resource }), operation: operation.option.value, ...parameters } as INodeParameters;
	const filled: IDataObject =
		NodeHelpers.getNodeParameters(description.properties, stored, true, false, null, description) ?? {};
	const context = {
		getNodeParameter: (parameter: string, _item: number, fallback: unknown) => filled[parameter] ?? fallback,
		getTimezone: () => 'America/New_York',
		helpers: {
			assertBinaryData: () => {
				throw new Error('there is none');
			},
			...helpers,
		},
	} as unknown as IExecuteFunctions;
	const { client, sent } = scriptedClient(answers.map((body) => json(200, body)));
	const run = { client, hints: new Set<string>(), shared: sharing() };
	const item = new Item(new Parameters(context, { parameters: stored } as INode), 0, input ?? { json: {} });
	const work = await operation.prepare(item, run as unknown as Run);
	const requests = () => sent.map(({ method, url }) => `${method} ${new URL(url).pathname}`);
	return { work, hints: run.hints, sent, requests };
}

const orderOf = async (name: string, parameters: object = {}, around?: Around) =>
	(await prepare(name, parameters, around)).work as Order;

const refusalOf = async (name: string, parameters: object, around?: Around) =>
	await prepare(name, parameters, around).then(
		() => undefined,
		(thrown: unknown) => asGatewayError(thrown).message,
	);

/** The output of a read, with the requests that it takes. */
async function read(name: string, parameters: object = {}, around?: Around) {
	const { work, hints, requests, sent } = await prepare(name, parameters, around);
	const controls = { uploading: async <T>(upload: () => Promise<T>) => await upload() };
	const { json: output } = await (work as Read).read(controls as never);
	return { output, task: work.task, requests: requests(), hints: [...hints], sent };
}

describe('forms', () => {
	/** One field: its name, with * where n8n asks for it, its type, default and choices. */
	const lineOf = ({
		name,
		type,
		required,
		default: value,
		typeOptions = {},
		options,
		displayOptions,
	}: INodeProperties) =>
		[
			`${name}${required ? '*' : ''}`,
			...[type, JSON.stringify(value)],
			...(type === 'options' ? [(options as INodePropertyOptions[]).map((option) => option.value).join('|')] : []),
			...Object.entries(typeOptions).flatMap(([key, on]) => (on === true ? [key] : [])),
			...Object.entries(displayOptions?.show ?? {}).map(([other, values]) => `if ${other}=${String(values)}`),
		].join(' ');
	const kind = 'avatarKind options "private" private|real';
	const adds = 'additionalFields json "{}"';
	const input = 'includeInputFields boolean true';
	const simplify = 'simplify boolean true';
	const rate = 'requestsPerSecond number 60';
	const again = 'submitAgain boolean true';
	const waiting = ['onTimeout options "error" return|error', 'pollIntervalSeconds number 5', rate];
	const concurrent = 'concurrentTasks number 50';

	test.each<[string, string[], string[]]>([
		['asset get', [kind, 'assetId* string ""'], [input, rate, simplify]],
		[
			'asset upload',
			[
				...[kind, 'groupId* string ""', 'assetType options "image" audio|image|video'],
				...['sourceUrl* string "" if avatarKind=private', 'sourceUrl string ""'],
				'waitForActive boolean true',
			],
			[
				...[adds, concurrent, 'groupIdBodyField string "group_id"', input, ...waiting, simplify, again],
				'timeoutMinutes number 10',
			],
		],
		['asset wait', [kind, 'assetId* string ""'], [concurrent, input, ...waiting, simplify, 'timeoutMinutes number 10']],
		['group create', ['groupName string ""', 'groupDescription string ""'], [adds, input, rate, simplify, again]],
		[
			'verification create',
			['sessionNotice notice ""', 'callbackUrl string ""', 'reference string ""', 'readLink boolean true'],
			[adds, 'callbackUrlBodyField string "callback_url"', input, rate, simplify, again],
		],
		['verification get', ['verificationId* string ""'], [input, rate, simplify]],
		[
			'verification getResult',
			[
				...['verificationId* string ""', 'vendorToken* string "" password', 'resultCode string ""'],
				'waitUntilVerified boolean false',
			],
			[concurrent, input, ...waiting, simplify, 'timeoutMinutes number 3'],
		],
		[
			'token create',
			[
				...['keyNotice notice ""', 'name* string ""', 'quota options "limited" limited|unlimited'],
				...['amount* string "" if quota=limited', 'unit options "usd" usd|credits|internalUnits if quota=limited'],
				...['expiry options "never" date|never', 'expiresAt* dateTime "" if expiry=date'],
				...['allowedModels multiOptions []', 'otherModels string [] multipleValues'],
			],
			[...[adds, 'group string ""', 'dailyCredits number 0', input, 'monthlyCredits number 0'], ...[simplify, again]],
		],
		['balance getTokenBalance', [], [input]],
		['balance getUserBalance', ['unitNotice notice ""'], [input, 'stopBelowCredits number 1000']],
		['image uploadImage', ['binaryPropertyName* string "data"'], [input, rate]],
	])('the form of %s has these fields, and these options', (name, fields, options) => {
		const { properties } = operationOf(name).operation;
		expect(properties.filter(({ type }) => type !== 'collection').map(lineOf)).toEqual(fields);
		const [collection] = properties.filter(({ type }) => type === 'collection');
		expect((collection?.options as INodeProperties[]).map(lineOf)).toEqual(options);
	});

	test('the form of a token offers all models in the order of their names', () => {
		const models = operationOf('token create').operation.properties.find(({ name }) => name === 'allowedModels');
		expect(models?.options).toEqual(
			['alpha-video-1-5-pro', 'beta-v3', 'beta-v3-omni', 'beta-video-o1', 'delta-2.6-flash', 'gamma-image-2'].map(
				(id) => ({ name: id, value: id }),
			),
		);
	});

	test('each says what its output describes', () => {
		const described = [...OPERATIONS].map(([name, { operation }]) => [name, operation.describes]);
		expect(Object.fromEntries(described)).toEqual({
			...{ 'asset get': 'asset', 'asset upload': 'asset', 'asset wait': 'asset', 'group create': 'group' },
			...{ 'verification create': 'session', 'verification get': 'session' },
			...{ 'verification getResult': 'verification', 'token create': 'token', 'image uploadImage': undefined },
			...{ 'balance getTokenBalance': 'balance', 'balance getUserBalance': 'balance' },
		});
	});

	test('only what waits for an asset says how to go on with one', () => {
		const names = [...OPERATIONS].flatMap(([name, { operation }]) => (operation.waitsFor === 'asset' ? [name] : []));
		expect(names).toEqual(['asset upload', 'asset wait']);
	});
});

describe('orders', () => {
	const nameless = (parameters: object) => JSON.stringify(parameters).includes('={{');
	const tokenBodies = goldens
		.filter((golden) => golden.kind === 'token')
		.flatMap(({ bodies }) => bodies.map((row) => ({ ...row, operation: 'token create' })));
	const avatarBodies = goldens
		.filter((golden) => golden.kind === 'avatar')
		.flatMap(({ bodies }) =>
			bodies.map((row) => ({
				...row,
				operation: `${String(row.parameters.resource)} ${String(row.parameters.operation)}`,
			})),
		);

	test.each([...tokenBodies, ...avatarBodies].filter(({ parameters }) => !nameless(parameters)))(
		'an order has exactly the golden body: $name',
		async ({ operation, parameters, body }) => {
			expect((await orderOf(operation, parameters)).request?.body).toStrictEqual(body);
		},
	);

	/** `hashed` is what the request is known by. */
	const planned = (body: object, hashed: [string, object?], submitAgain = false) => ({
		...{ version: 1, item: 0, state: 'planned', request: { body, hash: hashed, submitAgain } },
	});
	const wait = { plan: { kind: 'automatic' }, timeoutMs: 600_000, onTimeout: 'error' };
	const token = { name: 'N', amount: '1', unit: 'credits' };
	const tokenBody = { name: 'N', expired_time: -1, unlimited_quota: false, remain_credits: 1 };
	const upload = { groupId: 'g', sourceUrl: 'https://example.com/a.png' };
	const uploadBody = { group_id: 'g', asset_type: 'image', source_url: upload.sourceUrl };
	const again = { options: { submitAgain: true, simplify: false } };

	type Expected = { request?: { hash: [string, object?] }; [field: string]: unknown };
	test.each<[string, string, object, object]>([
		[
			'a token',
			'token create',
			token,
			{
				...planned(tokenBody, ['token']),
				...{ thing: 'token', kind: '', then: 'nothing' },
				about: { body: tokenBody, simplify: true, submitAgain: false },
			},
		],
		[
			'a token that a retry creates again',
			'token create',
			{ ...token, ...again },
			{
				...planned(tokenBody, ['token'], true),
				...{ thing: 'token', kind: '', then: 'nothing' },
				about: { body: tokenBody, simplify: false, submitAgain: true },
			},
		],
		[
			'a group',
			'group create',
			{},
			{
				...planned({}, ['group']),
				...{ thing: 'group', kind: 'private', then: 'nothing', about: { body: {}, simplify: true } },
			},
		],
		[
			'a group that a retry creates again',
			'group create',
			{ groupName: 'Anna', ...again },
			{
				...planned({ name: 'Anna' }, ['group'], true),
				...{ thing: 'group', kind: 'private', then: 'nothing' },
				about: { body: { name: 'Anna' }, simplify: false },
			},
		],
		[
			'a verification with its link',
			'verification create',
			{ callbackUrl: 'https://a.example/', reference: 'r' },
			{
				...planned({ callback_url: 'https://a.example/?reference=r' }, ['verification']),
				...{ thing: 'verification', kind: 'real', then: 'read' },
				about: { simplify: true, callbackUrl: 'https://a.example/?reference=r', reference: 'r' },
			},
		],
		[
			'a verification without its link, which a retry creates again',
			'verification create',
			{ readLink: false, ...again },
			{
				...planned({}, ['verification'], true),
				...{ thing: 'verification', kind: 'real', then: 'nothing' },
				about: { simplify: false, callbackUrl: undefined, reference: undefined },
			},
		],
		[
			'an asset that is waited for',
			'asset upload',
			upload,
			{
				...planned(uploadBody, ['asset', { kind: 'private' }]),
				...{ thing: 'asset', kind: 'private', scope: 'the group g', then: 'poll', wait },
				about: { simplify: true, body: uploadBody, groupIdName: 'group_id' },
			},
		],
		[
			'an asset whose group Additional Fields names',
			'asset upload',
			{ ...upload, options: { additionalFields: { group_id: 'other' } } },
			{
				...planned({ ...uploadBody, group_id: 'other' }, ['asset', { kind: 'private' }]),
				...{ thing: 'asset', kind: 'private', scope: 'the group other', then: 'poll', wait },
				about: { simplify: true, body: { ...uploadBody, group_id: 'other' }, groupIdName: 'group_id' },
			},
		],
		[
			'an asset of a real avatar that is not waited for, and that a retry uploads again',
			'asset upload',
			{
				...{ ...upload, avatarKind: 'real', waitForActive: false },
				options: { ...again.options, groupIdBodyField: ' group ', timeoutMinutes: 1, onTimeout: 'return' },
			},
			{
				...planned(
					{ group: 'g', asset_type: 'image', source_url: upload.sourceUrl },
					['asset', { kind: 'real' }],
					true,
				),
				...{ thing: 'asset', kind: 'real', scope: 'the group g', then: 'nothing' },
				wait: { ...wait, timeoutMs: 60_000, onTimeout: 'return' },
				about: {
					...{ simplify: false, groupIdName: 'group' },
					body: { group: 'g', asset_type: 'image', source_url: upload.sourceUrl },
				},
			},
		],
		[
			'an asset that exists already',
			'asset wait',
			{ avatarKind: 'real', assetId: 'asset://a_1', options: { simplify: false, timeoutMinutes: 1 } },
			{
				...{ version: 1, item: 0, state: 'accepted', thing: 'asset', kind: 'real', then: 'poll' },
				...{ task: { taskId: 'a_1', elapsedMs: 0 }, wait: { ...wait, timeoutMs: 60_000 }, about: { simplify: false } },
			},
		],
		[
			'the result of a verification that is read once',
			'verification getResult',
			{ verificationId: 'rav_1', vendorToken: 'vt_1', options: { simplify: false } },
			{
				...{ version: 1, item: 0, state: 'accepted', thing: 'verification', kind: 'real', then: 'read' },
				...{ task: { taskId: 'rav_1', elapsedMs: 0 }, wait: { ...wait, timeoutMs: 180_000 } },
				about: { simplify: false, vendorToken: 'vt_1', resultCode: undefined },
			},
		],
		[
			'the result of a verification that is waited for',
			'verification getResult',
			{
				...{ verificationId: 'rav_1', vendorToken: 'vt_1', resultCode: '7', waitUntilVerified: true },
				options: { timeoutMinutes: 1 },
			},
			{
				...{ version: 1, item: 0, state: 'accepted', thing: 'verification', kind: 'real', then: 'poll' },
				...{ task: { taskId: 'rav_1', elapsedMs: 0 }, wait: { ...wait, timeoutMs: 60_000 } },
				about: { simplify: true, vendorToken: 'vt_1', resultCode: '7' },
			},
		],
	])('the order of %s is made of the form', async (_, operation, parameters, draft) => {
		const { request, ...expected } = draft as Expected;
		const order = await orderOf(operation, parameters);
		const [thing, more] = request?.hash ?? [];
		const hash = hashOf(thing as never, { ...order.request?.body, ...more });
		expect(order).toStrictEqual({ ...expected, ...(request && { request: { ...request, hash } }) });
	});

	test('each order is for its kind of thing', () => {
		expect(Object.fromEntries([...OPERATIONS].map(([name, { operation }]) => [name, operation.product?.name]))).toEqual(
			{
				...{ 'asset get': undefined, 'asset upload': assetProduct.name, 'asset wait': assetProduct.name },
				...{ 'group create': groupProduct.name, 'verification create': verificationProduct.name },
				...{ 'verification get': undefined, 'verification getResult': verificationResultProduct.name },
				...{ 'token create': tokenProduct.name, 'image uploadImage': undefined },
				...{ 'balance getTokenBalance': undefined, 'balance getUserBalance': undefined },
			},
		);
	});

	const file = { json: {}, binary: { data: { data: '', mimeType: 'image/png' } } };
	const refused: Array<[operation: string, parameters: object, message: string, around?: Around]> = [
		['token create', { ...token, name: '' }, 'Name is empty'],
		['token create', { ...token, name: 'a'.repeat(51) }, 'Name has 51 characters: at most 50 are allowed'],
		['token create', { ...token, amount: '' }, 'Amount is empty'],
		['token create', { ...token, amount: '-1' }, 'Amount is -1: it must be a number, 0 or more'],
		['token create', { ...token, amount: 'many' }, 'Amount is "many": it must be a number, 0 or more'],
		['token create', { ...token, quota: 'Limited' }, 'Quota is "Limited": it must be limited or unlimited'],
		['token create', { ...token, unit: 'USD' }, 'Unit is "USD": it must be usd, credits or internalUnits'],
		['token create', { ...token, expiry: 'soon' }, 'Expiry is "soon": it must be date or never'],
		['token create', { ...token, expiry: 'date', expiresAt: '' }, 'Expires At is empty'],
		['token create', { ...token, options: { dailyCredits: -1 } }, 'Daily Limit (Credits) is -1: it must be'],
		['token create', { ...token, options: { monthlyCredits: -1 } }, 'Monthly Limit (Credits) is -1: it must be'],
		...Object.entries({
			expired_time: [1.5, 'Expires At is 1.5, which is not a time in Unix seconds'],
			remain_quota: [0.5, 'Amount is 0.5: internal units are whole numbers'],
			daily_credits: ['5', 'Daily Limit (Credits) is "5": it must be a number, 0 or more'],
			monthly_credits: ['5', 'Monthly Limit (Credits) is "5": it must be a number, 0 or more'],
			model_limits_enabled: [1, 'model_limits_enabled is 1: it must be true or false'],
			model_limits: [['a'], 'Allowed Models is ["a"], which is not text'],
			group: [5, 'Channel Group is 5, which is not text'],
		}).map(([field, [value, message]]): [string, object, string] => [
			...(['token create', { ...token, options: { additionalFields: { [field]: value } } }] as const),
			String(message),
		]),
		['asset upload', { ...upload, groupId: '' }, 'Group ID is empty'],
		['asset upload', { ...upload, groupId: 'x'.repeat(1001) }, 'Group ID has 1001 characters'],
		['asset upload', { ...upload, sourceUrl: '' }, 'Source URL is empty'],
		['asset upload', { ...upload, sourceUrl: 'nowhere' }, 'Source URL is "nowhere", which is not an http(s) URL'],
		['asset upload', { ...upload, sourceUrl: 'data:image/png;base64,AAAA' }, 'Source URL contains the file itself'],
		[
			'asset upload',
			{ ...upload, sourceUrl: 'data' },
			'Source URL is the name of the binary field "data"',
			{ input: file },
		],
		['asset upload', { ...upload, assetType: 'text' }, 'Asset Type is "text": it must be audio, image or video'],
		['asset upload', { ...upload, avatarKind: 'made up' }, 'Avatar Kind is "made up": it must be private or real'],
		['asset upload', { ...upload, options: { groupIdBodyField: 'a b' } }, 'Group ID Body Field is "a b"'],
		['asset upload', { ...upload, options: { groupIdBodyField: '1a' } }, 'Group ID Body Field is "1a"'],
		['asset upload', { ...upload, options: { groupIdBodyField: 5 } }, 'Group ID Body Field is 5'],
		...['asset_type', 'source_url'].map((field, index): [string, object, string] => [
			...(['asset upload', { ...upload, options: { additionalFields: { [field]: null } } }] as const),
			`${String(['Asset Type', 'Source URL'][index])} is empty`,
		]),
		['asset wait', { assetId: 'asset://' }, 'Asset ID is empty'],
		['asset get', { assetId: '' }, 'Asset ID is empty'],
		['asset get', { assetId: 'x'.repeat(1001) }, 'Asset ID has 1001 characters'],
		['verification get', { verificationId: '' }, 'Task ID is empty'],
		['verification get', { verificationId: 'x'.repeat(1001) }, 'Task ID has 1001 characters'],
		['verification getResult', { verificationId: 'rav_1', vendorToken: '' }, 'Vendor Token is empty'],
		['verification create', { callbackUrl: 'n8n' }, 'Callback URL is "n8n", which is not a URL'],
		['verification create', { callbackUrl: ' n8n ' }, 'Callback URL is "n8n", which is not a URL'],
		['verification create', { options: { callbackUrlBodyField: 'a b' } }, 'Callback URL Body Field is "a b"'],
		['image uploadImage', { binaryPropertyName: '' }, 'Input Binary Field is empty'],
	];

	test.each(
		refused.map(([operation, parameters, message, around = {}]) => ({ operation, parameters, message, around })),
	)('$operation refuses what cannot be meant: $message', async ({ operation, parameters, message, around }) => {
		expect(await refusalOf(operation, parameters, around)).toContain(message);
	});

	test.each([
		['token create', { ...token, name: 'a'.repeat(51) }, 'tokenNameTooLong'],
		['token create', { ...token, amount: 'many' }, 'amountNotANumber'],
		['token create', { ...token, options: { dailyCredits: -1 } }, 'amountNotANumber'],
		['token create', { ...token, options: { monthlyCredits: -1 } }, 'amountNotANumber'],
		['token create', { ...token, options: { additionalFields: { remain_quota: '5' } } }, 'amountNotANumber'],
	])('%s refuses %j with advice of its own: %s', async (operation, parameters, name) => {
		const refusal: unknown = await prepare(operation, parameters).catch((thrown: unknown) => thrown);
		expect(asGatewayError(refusal).details.reason?.name).toBe(name);
	});

	test.each([
		['group create', { groupName: 42, groupDescription: ' 7 ' }, { name: '42', description: '7' }],
		['group create', { groupName: ' Anna ' }, { name: 'Anna' }],
		['group create', { options: { additionalFields: { name: 42, description: [7] } } }, { name: 42, description: [7] }],
		['asset upload', { ...upload, groupId: ' g ', sourceUrl: ` ${upload.sourceUrl} ` }, uploadBody],
		['token create', { ...token, name: ' N ', options: { group: ' vip ' } }, { ...tokenBody, group: 'vip' }],
		...['allowedModels', 'otherModels'].map((field): [string, object, object] => [
			...(['token create', { ...token, [field]: ['beta-v3'] }] as const),
			{ ...tokenBody, model_limits_enabled: true, model_limits: 'beta-v3' },
		]),
	])('%s with %j is sent as %j', async (operation, parameters, body) => {
		expect((await orderOf(operation, parameters)).request?.body).toStrictEqual(body);
	});

	const accepted: Array<[title: string, parameters: object, expected: object, around?: Around]> = [
		['an empty name of a body field is the assumed one', { options: { groupIdBodyField: '' } }, { group_id: 'g' }],
		['a name of a body field may be any', { options: { groupIdBodyField: '_g1' } }, { _g1: 'g' }],
		[
			'the name of a file may be in a URL',
			{ sourceUrl: 'https://data' },
			{ source_url: 'https://data' },
			{ input: file },
		],
		[
			'of a real avatar each field can be left out',
			{ avatarKind: 'real', options: { additionalFields: { group_id: null, asset_type: null, source_url: null } } },
			{ group_id: undefined, asset_type: undefined, source_url: undefined },
		],
	];

	test.each(accepted.map(([title, parameters, expected, around = {}]) => ({ title, parameters, expected, around })))(
		'$title',
		async ({ parameters, expected, around }) => {
			const { request } = await orderOf('asset upload', { ...upload, ...parameters }, around);
			for (const [field, value] of Object.entries(expected)) expect(request?.body[field]).toBe(value);
		},
	);

	test('an asset ID is a reference only by its beginning', async () => {
		const { task } = await orderOf('asset wait', { assetId: 'a_asset://1' });
		expect(task?.taskId).toBe('a_asset://1');
	});
});

describe('reads', () => {
	const link = { h5_link: 'https://example.com/h5', vendor_token: 'vt_1' };
	const full = { options: { simplify: false } };

	test('an asset is read once', async () => {
		const answers = [{ status: 'active', more: 1 }];
		const { output, task, requests } = await read(
			'asset get',
			{ assetId: 'asset://a_1', avatarKind: 'real' },
			{ answers },
		);
		const expected = { asset_id: 'a_1', reference: 'asset://a_1', avatar_kind: 'real', status: 'active' };
		expect(output).toStrictEqual(expected);
		expect(task).toEqual({ taskId: 'a_1', elapsedMs: 0 });
		expect(requests).toEqual(['GET /v1/videos/alpha-video-2-0/real-avatar/assets/a_1']);
		const raw = await read('asset get', { assetId: 'a_1', avatarKind: 'real', ...full }, { answers });
		expect(raw.output).toStrictEqual({ ...expected, record: answers[0] });
	});

	test('a verification is read once, and a hint says where it has no link', async () => {
		const answers = [{ ...link, more: 1 }];
		const found = await read('verification get', { verificationId: 'rav_1' }, { answers });
		expect(found).toMatchObject({ output: { task_id: 'rav_1', ...link }, hints: [] });
		expect(found.output).not.toHaveProperty('record');
		expect(found.task).toEqual({ taskId: 'rav_1', elapsedMs: 0 });
		const bare = await read('verification get', { verificationId: 'rav_1', ...full }, { answers: [{ more: 1 }] });
		expect(bare).toMatchObject({
			...{ output: { task_id: 'rav_1', record: { more: 1 } }, hints: [HINTS.noVerificationLink()] },
		});
	});

	test('a verification that the service does not know is named', async () => {
		const { work } = await prepare('verification get', { verificationId: 'rav_1' }, { answers: [{ success: false }] });
		await expect((work as Read).read({} as never)).rejects.toMatchObject({ details: { task: { taskId: 'rav_1' } } });
	});

	test('the balance of the API key is read, the credits first', async () => {
		const { output, requests } = await read(
			'balance getTokenBalance',
			{},
			{ answers: [{ success: true, note: undefined, remain_balance: 1, remain_credits: 200 }] },
		);
		expect(Object.entries(output)).toEqual(Object.entries({ remain_credits: 200, remain_usd: 1, remain_balance: 1 }));
		expect(requests).toEqual(['GET /v1/balance']);
	});

	test('the balance of the account is read', async () => {
		const { output, requests } = await read('balance getUserBalance', {}, { answers: [{ remain_credits: 0 }] });
		expect(output).toMatchObject({ remain_credits: 0, remain_usd: 0 });
		expect(output).not.toHaveProperty('used_credits', undefined);
		expect(requests).toEqual(['GET /v1/user/balance']);
		const inUnits = await read('balance getUserBalance', {}, { answers: [{ remain_balance: 5 }] });
		expect(inUnits.output).toMatchObject({ remain_balance: 5 });
	});

	test.each<[object, number, string | undefined]>([
		[{ remain_credits: 99 }, 100, 'creditsBelowLimit'],
		[{ remain_credits: 100 }, 100, undefined],
		[{ remain_credits: 0 }, 0, undefined],
		[{ remain_balance: 5 }, 100, 'creditsUnknown'],
		[{ remain_credits: 0, unlimited_quota: true }, 100, undefined],
		[{ remain_credits: 0, unlimited_quota: 'yes' }, 100, 'answer'],
	])('a balance of %j with at least %i credits wanted stops the workflow: %s', async (balance, wanted, name) => {
		const outcome = await read(
			'balance getUserBalance',
			{ options: { stopBelowCredits: wanted } },
			{ answers: [balance] },
		).then(
			() => undefined,
			(thrown: unknown) => asGatewayError(thrown).details.reason,
		);
		if (name === 'answer') expect(outcome).toBeDefined();
		else expect(outcome?.name).toBe(name);
		if (name === 'creditsBelowLimit') expect(outcome?.data).toEqual({ credits: 99, wanted });
	});

	test.each<[string, string, string]>([
		['balance getTokenBalance', 'token balance', 'getTokenBalance'],
		['balance getUserBalance', 'user balance', 'getUserBalance'],
	])('items that ask for the same balance share one answer: %s', async (name, what) => {
		const { operation } = operationOf(name);
		const shared = jest.fn(async () => await Promise.resolve({ remain_credits: 1 }));
		const item = { options: { has: () => false } } as unknown as Item;
		const { read: readOnce } = (await operation.prepare(item, { shared } as unknown as Run)) as Read;
		expect((await readOnce({} as never)).json).toMatchObject({ remain_credits: 1 });
		expect(shared).toHaveBeenCalledWith(what, expect.any(Function));
	});

	test('an image is uploaded when its turn comes, and only if it is one', async () => {
		const bytes = Buffer.from('89504e470d0a1a0a', 'hex');
		const file = { data: bytes.toString('base64'), mimeType: 'image/png', fileName: 'a.png' };
		const input = { json: {}, binary: { picture: file } };
		const around = {
			input,
			answers: [{ url: 'https://files.example/a.png' }],
			helpers: { getBinaryDataBuffer: () => bytes },
		};
		const { output, requests } = await read('image uploadImage', { binaryPropertyName: 'picture' }, around);
		expect(output).toStrictEqual({ url: 'https://files.example/a.png', file_name: 'a.png', mime_type: 'image/png' });
		expect(requests).toEqual(['POST /v1/uploads/images']);
		const text = { json: {}, binary: { picture: { ...file, mimeType: 'text/plain' } } };
		const helpers = { getBinaryDataBuffer: () => Buffer.from('text') };
		expect(await refusalOf('image uploadImage', { binaryPropertyName: 'picture' }, { input: text, helpers })).toMatch(
			/^Input Binary Field/,
		);
	});
});
