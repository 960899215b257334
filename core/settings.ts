import { GatewayError } from './errors';

/**
 * Where the service is found. The paths of the task status and the image upload are not shown in the contract
 * (4.8): the defaults are what gateways of this kind use, and the credential can override each.
 */
export interface GatewaySettings {
	/** Without trailing slash and without the `/v1` suffix. */
	baseUrl: string;
	/** Path templates with `{task_id}`, relative to the base URL. */
	imageStatusPath: string;
	videoStatusPath: string;
	imageUploadPath: string;
}

export interface RawSettings {
	baseUrl?: unknown;
	allowPlainHttp?: unknown;
	/** Only when true do the paths count. */
	customPaths?: unknown;
	imageStatusPath?: unknown;
	videoStatusPath?: unknown;
	imageUploadPath?: unknown;
}

const LABELS = {
	imageStatusPath: 'Image Task Status Path',
	videoStatusPath: 'Video Task Status Path',
	imageUploadPath: 'Image Upload Path',
} as const;

export const DEFAULT_PATHS: Record<keyof typeof LABELS, string> = {
	imageStatusPath: '/v1/images/generations/{task_id}',
	videoStatusPath: '/v1/videos/generations/{task_id}',
	imageUploadPath: '/v1/uploads/images',
};

/** Reads what the credential holds. Throws a `badInput` error that names the credential's field. */
export function readSettings(raw: RawSettings): GatewaySettings {
	const path = (name: keyof typeof LABELS) => {
		const given = raw.customPaths === true ? raw[name] : '';
		const value = typeof given === 'string' ? given.trim() : '';
		return value === '' ? DEFAULT_PATHS[name] : checkPath(value, name);
	};
	return {
		baseUrl: readBaseUrl(raw.baseUrl, raw.allowPlainHttp === true),
		imageStatusPath: path('imageStatusPath'),
		videoStatusPath: path('videoStatusPath'),
		imageUploadPath: path('imageUploadPath'),
	};
}

function readBaseUrl(value: unknown, allowPlainHttp: boolean): string {
	const text = typeof value === 'string' ? value.trim() : '';
	if (text === '') {
		throw settingsError('Base URL', 'is empty', 'Enter the address of the service, e.g. https://gateway.example.com.');
	}
	let url: URL;
	try {
		url = new URL(text);
	} catch {
		throw settingsError('Base URL', 'is not a web address', 'It must start with https://, e.g. https://gateway.example.com.');
	}
	if (url.protocol !== 'https:' && url.protocol !== 'http:') {
		throw settingsError('Base URL', 'is not a web address', 'It must start with https://.');
	}
	if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
		throw settingsError(
			'Base URL',
			'holds more than an address',
			'Enter the address only, without user name, password, query or #.',
		);
	}
	if (url.protocol === 'http:' && !isLoopback(url.hostname) && !allowPlainHttp) {
		throw settingsError(
			'Base URL',
			'uses plain http, so the API key would travel unencrypted',
			'Use https://, or turn on Allow Plain HTTP if the service is in your own private network.',
		);
	}
	return `${url.origin}${url.pathname}`.replace(/\/+$/, '').replace(/\/v1$/, '');
}

function isLoopback(host: string): boolean {
	return /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(host);
}

/** A custom path must stay on the host of the base URL: an absolute URL would send the key elsewhere. */
function checkPath(value: string, name: keyof typeof LABELS): string {
	const label = LABELS[name];
	const needsTaskId = name !== 'imageUploadPath';
	const example = DEFAULT_PATHS[name];
	if (/^[a-z][a-z0-9+.-]*:/i.test(value) || /^[\\/]{2}/.test(value)) {
		throw settingsError(
			label,
			'is an absolute URL, so the API key would travel to another host',
			`Enter a path on the service only, e.g. ${example}.`,
		);
	}
	if (!value.startsWith('/') || /[\\\s#]/.test(value) || value.includes('..')) {
		throw settingsError(label, 'is not a path on the service', `A path starts with /, e.g. ${example}.`);
	}
	if (needsTaskId && !value.includes('{task_id}')) {
		throw settingsError(label, 'does not say where the task ID goes', `Put {task_id} in its place, e.g. ${example}.`);
	}
	return value;
}

function settingsError(field: string, what: string, advice: string): GatewayError {
	return new GatewayError('badInput', `${field} in the credential ${what}`, {
		field,
		description: `${advice} Nothing was sent.`,
	});
}

/** The key as the service wants it: a pasted `Bearer ` prefix and spaces around it are removed. */
export function cleanApiKey(value: unknown): string {
	return typeof value === 'string' ? value.trim().replace(/^bearer\s+/i, '').trim() : '';
}
