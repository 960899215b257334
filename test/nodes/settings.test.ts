/** The credential: every field is read as it is meant, or refused with its label. */
import { NodeHelpers, type ICredentialDataDecryptedObject } from 'n8n-workflow';
import { GenerationGatewayApi } from '../../credentials/GenerationGatewayApi.credentials';
import { hasPurchaseLog, readApiKey, readLimits, readSettings } from '../../nodes/connection/settings';

const baseUrl = 'https://g.example';
const refused = (message: RegExp | string) =>
	expect.objectContaining({ kind: 'badInput', message: expect.stringMatching(message) as string }) as Error;
const DEFAULTS = {
	baseUrl,
	allowPrivateAddresses: false,
	imageStatusPath: '/v1/images/generations/{task_id}',
	videoStatusPath: '/v1/videos/generations/{task_id}',
	imageUploadPath: '/v1/uploads/images',
	imageUploadField: 'file',
};
const OWN = {
	imageStatusPath: '/i/{task_id}',
	videoStatusPath: '/v/{task_id}',
	imageUploadPath: '/up',
	imageUploadField: 'image-file',
};

test.each<[string, object, object]>([
	['unless Custom Paths is on', OWN, DEFAULTS],
	['if Custom Paths is on', { ...OWN, customPaths: true }, { ...DEFAULTS, ...OWN }],
	['unless Advanced is off', { ...OWN, customPaths: true, advanced: false }, DEFAULTS],
	[
		'without spaces around them',
		{ customPaths: true, imageUploadPath: ' /up ' },
		{ ...DEFAULTS, imageUploadPath: '/up' },
	],
	[
		'also as fields of the form',
		{ customPaths: true, imageUploadFields: '{"a": 1, "b": true, "c": "x"}' },
		{ ...DEFAULTS, imageUploadFields: { a: '1', b: 'true', c: 'x' } },
	],
	['like Private Network', { privateNetwork: 'true' }, { ...DEFAULTS, allowPrivateAddresses: true }],
	['only as texts', { customPaths: true, imageUploadPath: 7, imageUploadField: '' }, DEFAULTS],
])('the paths of the credential count %s', (_, raw, settings) => {
	expect(readSettings({ baseUrl, advanced: true, ...raw })).toEqual(settings);
});

test.each<[name: string, value: string, message: RegExp]>([
	['imageStatusPath', 'tasks', /^Image Task Status Path .* not a path/],
	['videoStatusPath', '/tasks', /^Video Task Status Path .* where the task ID goes/],
	['imageUploadPath', 'x:/up', /^Image Upload Path .* absolute URL/],
	['imageUploadPath', '/a b', /^Image Upload Path .* not a path/],
	...['{', '[]', '{"a": {}}'].map((fields): [string, string, RegExp] => [
		'imageUploadFields',
		fields,
		/^Image Upload Form Fields \(JSON\) .* not a JSON object of form fields/,
	]),
	...['1file', 'files['].map((field): [string, string, RegExp] => [
		'imageUploadField',
		field,
		/^Image Upload Field .* not the name of a field/,
	]),
])('the custom setting %s is refused if it is %s', (name, value, message) => {
	expect(() => readSettings({ baseUrl, advanced: true, customPaths: true, [name]: value })).toThrow(refused(message));
});

test.each([
	['https://g.example//', 'https://g.example'],
	['https://g.example/api//v1', 'https://g.example/api'],
	['https://g.example/v1/custom', 'https://g.example/v1/custom'],
	['http://127.100.20.3', 'http://127.100.20.3'],
])('the base URL %s is read as %s', (given, read) => {
	expect(readSettings({ baseUrl: given }).baseUrl).toBe(read);
});

test.each<[given: unknown, why: RegExp]>([
	['  ', /is empty$/],
	['https://', /is not a web address$/],
	['ftp://g.example', /is not a web address$/],
	...['user@g.example', ':pw@g.example', 'g.example?x', 'g.example#x'].map((more): [string, RegExp] => [
		`https://${more}`,
		/contains more than an address$/,
	]),
	...['xlocalhost', '127.0.0.1.example', 'x127.0.0.1.example', '[::2]'].map((host): [string, RegExp] => [
		`http://${host}`,
		/uses plain http/,
	]),
	...['images', 'videos/x', 'uploads/images', 'tokens', 'balance', 'user/balance'].map((path): [string, RegExp] => [
		`https://g.example/v1/${path}`,
		/is the path of an endpoint$/,
	]),
])('the base URL "%s" is refused, because it %s', (given, why) => {
	expect(() => readSettings({ baseUrl: given })).toThrow(refused(/^Base URL in the credential/));
	expect(() => readSettings({ baseUrl: given })).toThrow(refused(why));
});

test.each([
	...[undefined, null, '', false, 'false'].map((value) => [value, false] as const),
	...[true, 'true'].map((value) => [value, true] as const),
])('a switch of the credential that is %p is read as %p', (value, is) => {
	const { allowPrivateAddresses } = readSettings({ baseUrl, advanced: true, privateNetwork: value });
	expect(allowPrivateAddresses).toBe(is);
	expect(readSettings({ baseUrl, advanced: value, privateNetwork: true }).allowPrivateAddresses).toBe(is);
});

test.each([
	...[undefined, null, '', true, 'true'].map((value) => [true, value, true] as const),
	...[false, 'false'].map((value) => [true, value, false] as const),
	...[undefined, null, '', false, 'false'].map((advanced) => [advanced, false, true] as const),
])('with Advanced %p, a switch Purchase Log that is %p counts as %p', (advanced, purchaseLog, is) => {
	expect(hasPurchaseLog({ advanced, purchaseLog })).toBe(is);
});

describe('while Advanced is off', () => {
	const stored = {
		baseUrl,
		...{ apiKey: 'sk-1', advanced: false, privateNetwork: 'x', requestsPerSecond: 'x', concurrentTasks: 'x' },
		...{ customPaths: 'x', imageUploadPath: 'x', purchaseLog: 'x' },
	};

	test('what is stored in the other fields does not count', () => {
		expect(readSettings(stored)).toEqual(DEFAULTS);
		expect(readLimits(stored)).toEqual({ requestsPerSecond: 60, concurrentTasks: Infinity });
		expect(hasPurchaseLog(stored)).toBe(true);
		expect(() => readSettings({ ...stored, baseUrl: 'http://g.example', privateNetwork: true })).toThrow(
			refused(/uses plain http/),
		);
	});

	test('the form has three fields, and n8n gives the nodes no others', () => {
		expect(given(stored)).toEqual(['baseUrl', 'apiKey', 'advanced']);
		const switches = { ...stored, advanced: 'true', customPaths: 'true' };
		expect(given(switches)).toEqual(new GenerationGatewayApi().properties.map(({ name }) => name));
	});

	/** The names of the fields that n8n gives to a node. */
	const given = (data: ICredentialDataDecryptedObject) =>
		Object.keys(
			NodeHelpers.getNodeParameters(new GenerationGatewayApi().properties, data as never, true, false, null, null) ??
				{},
		);
});

test('with Private Network, the Base URL may be plain http on another machine', () => {
	const read = readSettings({ advanced: true, privateNetwork: true, baseUrl: 'http://g.example' });
	expect(read).toEqual({ ...DEFAULTS, baseUrl: 'http://g.example', allowPrivateAddresses: true });
});

test.each<[unknown, string]>([
	['sk-1', 'sk-1'],
	[' Bearer  sk-1\n', 'sk-1'],
	['my bearer key', 'my bearer key'],
	[undefined, ''],
	[7, ''],
])('the key %p is read as %p', (value, key) => {
	expect(readApiKey(value)).toBe(key);
});

test.each([
	['sk–a', 'has "–" (U+2013) as character 3, which'],
	['ab\u200bc', 'has the invisible character U+200B as character 3, which'],
	['ab\u0007', 'has the invisible character U+0007 as character 3, which'],
	['a\\b', 'has "\\" (U+005C) as character 2, which no key has'],
])('a key with a character that no header can hold is refused: %j', (value, message) => {
	const found = expect.objectContaining({ message: expect.stringContaining(message) as string }) as Error;
	expect(() => readApiKey(value)).toThrow(refused(/^API Key in the credential/));
	expect(() => readApiKey(value)).toThrow(found);
});
