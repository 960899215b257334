import type { AccountLimits } from '../../core/account/accounts';
import { gatewayError, invalidInput } from '../../core/errors';
import { DEFAULT_REQUESTS_PER_SECOND, MOST_REQUESTS_PER_SECOND } from '../../core/account/pace';
import { isPlainObject, parseJson } from '../../core/json';
import { cleanApiKey, DEFAULT_PATHS, DEFAULT_UPLOAD_FIELD, type GatewaySettings } from '../../core/settings';
import { show } from '../../core/text';

/** The fields of the credential but for the key, as n8n gives them. */
export interface RawSettings {
	baseUrl?: unknown;
	/** All fields below count only when it is on. */
	advanced?: unknown;
	privateNetwork?: unknown;
	requestsPerSecond?: unknown;
	concurrentTasks?: unknown;
	/** The paths below count only when it is on. */
	customPaths?: unknown;
	imageStatusPath?: unknown;
	videoStatusPath?: unknown;
	imageUploadPath?: unknown;
	imageUploadField?: unknown;
	imageUploadFields?: unknown;
	purchaseLog?: unknown;
}

const LABELS: Record<keyof typeof DEFAULT_PATHS, string> = {
	imageStatusPath: 'Image Task Status Path',
	videoStatusPath: 'Video Task Status Path',
	imageUploadPath: 'Image Upload Path',
};

/** The fields that count. A hidden one has its default, or it would go on unseen. */
function counted(raw: RawSettings): RawSettings {
	return readSwitch(raw.advanced, 'Advanced') ? raw : { baseUrl: raw.baseUrl };
}

/** Reads the addresses in the credential. Throws a `badInput` error that names the credential's field. */
export function readSettings(stored: RawSettings): GatewaySettings {
	const raw = counted(stored);
	const isPrivateNetwork = readSwitch(raw.privateNetwork, 'Private Network');
	const isCustom = readSwitch(raw.customPaths, 'Custom Paths');
	const custom = (name: keyof RawSettings) => {
		const given = isCustom ? raw[name] : '';
		return typeof given === 'string' ? given.trim() : '';
	};
	const path = (name: keyof typeof DEFAULT_PATHS) => {
		const value = custom(name);
		return value === '' ? DEFAULT_PATHS[name] : checkPath(value, name);
	};
	return {
		baseUrl: readBaseUrl(raw.baseUrl, isPrivateNetwork),
		allowPrivateAddresses: isPrivateNetwork,
		imageStatusPath: path('imageStatusPath'),
		videoStatusPath: path('videoStatusPath'),
		imageUploadPath: path('imageUploadPath'),
		imageUploadField: checkFieldName(custom('imageUploadField') || DEFAULT_UPLOAD_FIELD),
		imageUploadFields: readFormFields(isCustom ? raw.imageUploadFields : ''),
	};
}

/**
 * Reads a switch of the credential; `byDefault` where it is empty. An expression may give a text: n8n's variables and external
 * secrets are texts. Throws a `badInput` error for any other value, because n8n's user would not notice that the switch has no effect.
 */
function readSwitch(value: unknown, name: string, byDefault = false): boolean {
	if (value === undefined || value === null || value === '') return byDefault;
	if (value === true || value === 'true') return true;
	if (value === false || value === 'false') return false;
	throw gatewayError('notAChoice', {
		label: `${name} in the credential`,
		value: show(value),
		allowed: 'true or false',
	});
}

/**
 * Reads the switch of the purchase log, which is on unless a person has turned it off: a crash of a run without it leaves
 * requests of unknown outcome. Throws a `badInput` error that names the credential's field.
 */
export function hasPurchaseLog(raw: RawSettings): boolean {
	return readSwitch(counted(raw).purchaseLog, 'Purchase Log', true);
}

/** More tasks than any account runs at once: a larger number is a mistake. */
const MOST_CONCURRENT_TASKS = 10_000;

/** Reads the limits of the account. Throws a `badInput` error that names the credential's field. */
export function readLimits(raw: RawSettings): AccountLimits {
	const { requestsPerSecond, concurrentTasks } = counted(raw);
	return {
		requestsPerSecond:
			readLimit(requestsPerSecond, 'Requests per Second', MOST_REQUESTS_PER_SECOND) ?? DEFAULT_REQUESTS_PER_SECOND,
		concurrentTasks: Math.floor(
			readLimit(concurrentTasks, 'Concurrent Tasks of the Account', MOST_CONCURRENT_TASKS) ?? Infinity,
		),
	};
}

/** Undefined where the field is empty. */
function readLimit(value: unknown, name: string, max: number): number | undefined {
	if (value === undefined || value === null || value === '') return undefined;
	const label = `${name} in the credential`;
	const number = typeof value === 'number' || typeof value === 'string' ? Number(value) : NaN;
	if (!Number.isFinite(number) || number < 1) throw gatewayError('notANumber', { label, value: show(value), min: 1 });
	if (number > max) throw gatewayError('numberTooLarge', { label, value: show(value), max });
	return number;
}

/**
 * The key, which may be empty. Throws a `badInput` error for a character that no HTTP header can hold, and for a backslash, which no key
 * has: to search an answer for a key with many backslashes could block n8n.
 */
export function readApiKey(value: unknown): string {
	const key = cleanApiKey(value);
	const characters = [...key];
	const index = characters.findIndex((character) => !/[\t\x20-\x5b\x5d-\x7e\x80-\xff]/.test(character));
	const character = characters[index];
	if (character === undefined) return key;
	const code = `U+${Number(character.codePointAt(0)).toString(16).toUpperCase().padStart(4, '0')}`;
	const shown = /[\p{L}\p{N}\p{P}\p{S}]/u.test(character)
		? `"${character}" (${code})`
		: `the invisible character ${code}`;
	throw invalidInput(
		`API Key in the credential has ${shown} as character ${index + 1}, which ${character === '\\' ? 'no key has' : 'HTTP does not allow'}`,
		'Copy the key again from the key management page of your account, and paste it without anything before or after it.',
	);
}

/** An endpoint, as people copy it from a reference of the service. Any other path may be that of the service. */
const ENDPOINT = /(\/v1\/(images|videos|uploads|tokens|balance|user)(\/.*)?|\/user\/balance)$/;

function readBaseUrl(baseUrl: unknown, isPrivateNetwork: boolean): string {
	const refuse = (says: string, advice: string) => invalidInput(`Base URL in the credential ${says}`, advice);
	const text = typeof baseUrl === 'string' ? baseUrl.trim() : '';
	if (text === '') throw refuse('is empty', 'Enter the address of the service, e.g. https://gateway.example.com.');
	const url = URL.canParse(text) ? new URL(text) : undefined;
	if (url === undefined || (url.protocol !== 'https:' && url.protocol !== 'http:'))
		throw refuse('is not a web address', 'It must start with https://, e.g. https://gateway.example.com.');
	const hasMore = url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '';
	if (hasMore)
		throw refuse('contains more than an address', 'Enter the address only, without user name, password, query or #.');
	if (url.protocol === 'http:' && !isLoopback(url.hostname) && !isPrivateNetwork)
		throw refuse(
			'uses plain http, so the API key would be sent unencrypted',
			'Use https://, or, if the service is in your own private network, turn on Advanced and Private Network in the credential.',
		);
	const base = `${url.origin}${url.pathname}`.replace(/\/+$/, '').replace(/\/+v1$/, '');
	const [endpoint] = ENDPOINT.exec(base) ?? [];
	if (endpoint !== undefined)
		throw refuse('is the path of an endpoint', `Enter the address without it: ${base.slice(0, -endpoint.length)}.`);
	return base;
}

function isLoopback(host: string): boolean {
	return /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(host);
}

/** A custom path must stay on the host of the base URL: an absolute URL would send the key elsewhere. */
function checkPath(value: string, name: keyof typeof DEFAULT_PATHS): string {
	const example = DEFAULT_PATHS[name];
	const refuse = (says: string, advice: string) =>
		invalidInput(`${LABELS[name]} in the credential ${says}`, `${advice}, e.g. ${example}.`);
	if (/^[a-z][a-z0-9+.-]*:/i.test(value) || /^[\\/]{2}/.test(value))
		throw refuse(
			'is an absolute URL, so the API key would be sent to another host',
			'Enter only a path on the service',
		);
	if (!value.startsWith('/') || /[\\\s#]/.test(value) || value.includes('..'))
		throw refuse('is not a path on the service', 'A path starts with /');
	if (example.includes('{task_id}') && !value.includes('{task_id}'))
		throw refuse('does not say where the task ID goes', 'Put {task_id} in its place');
	return value;
}

/** Checks a field name, such as `file`, `image-file` or `files[]`. */
function checkFieldName(value: string): string {
	if (/^[A-Za-z_][\w.-]*(\[\w*\])*$/.test(value)) return value;
	throw invalidInput(
		'Image Upload Field in the credential is not the name of a field',
		`Enter a name of letters, digits and underscores, e.g. ${DEFAULT_UPLOAD_FIELD}.`,
	);
}

/** Reads the further fields of the upload form: JSON, or an object that an expression gives. Undefined where there are none. */
function readFormFields(value: unknown): Record<string, string> | undefined {
	const isText = typeof value === 'string';
	if (value === undefined || value === null || (isText && value.trim() === '')) return undefined;
	const fields = isText ? parseJson(value) : value;
	const entries = isPlainObject(fields) ? Object.entries(fields) : [['', fields] as const];
	if (entries.some(([name, field]) => name === '' || !['string', 'number', 'boolean'].includes(typeof field)))
		throw invalidInput(
			'Image Upload Form Fields (JSON) in the credential is not a JSON object of form fields',
			'Enter names with texts, numbers, true or false, e.g. {"purpose": "vision"}.',
		);
	return entries.length === 0 ? undefined : Object.fromEntries(entries.map(([name, field]) => [name, String(field)]));
}
