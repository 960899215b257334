import { invalidRequest } from '../http/refusal.mts';

/** Checks of the links that the contract asks for in place of files: public URLs, never the file itself. */

export interface LinkCheck {
	/** Refuses an asset reference that does not exist, is another user's, or is not active (contract section 3.2). */
	asset(assetId: string, where: string): void;
	/** Refuses a URL of the sandbox's own upload host at which nothing was uploaded. */
	uploaded(url: string, where: string): void;
}

const ASSET = /^asset:\/\/(.+)$/;

/** A public http or https URL; base64 data is refused (contract sections 4.4.2 to 4.5). */
export function checkWebUrl(value: string, where: string, check: LinkCheck): void {
	if (/^data:/i.test(value.trim())) {
		throw invalidRequest(`${where}: base64 data is not accepted; upload the file first to obtain a URL`);
	}
	if (!URL.canParse(value) || !/^https?:\/\/[^/\s]+/i.test(value) || /\s/.test(value)) {
		const looksEncoded = value.length > 60 && /^[A-Za-z0-9+/=\s_-]+$/.test(value);
		throw invalidRequest(
			looksEncoded
				? `${where}: base64 data is not accepted; upload the file first to obtain a URL`
				: `${where} must be a public http or https URL`,
		);
	}
	check.uploaded(value, where);
}

/**
 * The same, or a reference to an active avatar asset. Which field carries one is not shown (contract section 4.4.5), so
 * each may.
 */
export function checkLink(value: string, where: string, check: LinkCheck): void {
	const assetId = ASSET.exec(value)?.[1];
	if (assetId === undefined) checkWebUrl(value, where, check);
	else check.asset(assetId, where);
}

/** Every string of a value whose fields are not shown: asset references must be usable, encoded files are refused. */
export function checkLinksAnywhere(value: unknown, where: string, check: LinkCheck): void {
	eachText(value, where, (text, at) => {
		if (ASSET.test(text) || /^data:/i.test(text)) checkLink(text, at, check);
	});
}

/** The same where a text may also be a prompt: only asset references say what they are. */
export function checkAssetsAnywhere(value: unknown, where: string, check: LinkCheck): void {
	eachText(value, where, (text, at) => {
		if (ASSET.test(text)) checkLink(text, at, check);
	});
}

function eachText(value: unknown, where: string, visit: (text: string, where: string) => void): void {
	if (typeof value === 'string') {
		visit(value, where);
	} else if (Array.isArray(value)) {
		value.forEach((entry: unknown, index) => eachText(entry, `${where}[${index}]`, visit));
	} else if (typeof value === 'object' && value !== null) {
		for (const [name, entry] of Object.entries(value)) eachText(entry, where === '' ? name : `${where}.${name}`, visit);
	}
}
