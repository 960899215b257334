import { invalidRequest } from '../http/refusal.mts';
import { defaults, SETTERS, type Directives } from './directives.mts';

/**
 * Finds directives, written as `[[sandbox key=value key="two words"]]` in a prompt, name or
 * description, as the value of a field `sandbox`, or as a query parameter `sandbox` of `source_url`
 * or `callback_url`. An unknown key is refused, so that a misspelt directive cannot make a test pass
 * by doing nothing.
 */

export const DIRECTIVE_KEYS = Object.keys(SETTERS);

/** The directives of a request body; without any, the defaults. */
export function directivesOf(body: unknown): Directives {
	const into = defaults();
	for (const text of directiveTexts(body)) {
		for (const [, key = '', quoted, plain] of text.matchAll(/([^\s=]+)(?:=(?:"([^"]*)"|(\S*)))?/g)) {
			const set = SETTERS[key];
			if (!set) throw invalidRequest(`[[sandbox]]: unknown key "${key}"; known are ${DIRECTIVE_KEYS.join(', ')}`);
			try {
				set(into, quoted ?? plain ?? '');
			} catch (reason) {
				throw invalidRequest(`[[sandbox]] ${key}: ${reason instanceof Error ? reason.message : String(reason)}`);
			}
		}
	}
	return into;
}

function directiveTexts(body: unknown): string[] {
	if (typeof body !== 'object' || body === null) return [];
	const fields = new Map<string, unknown>(Object.entries(body));
	const texts: string[] = [];
	for (const name of ['prompt', 'name', 'description']) {
		const value = fields.get(name);
		if (typeof value !== 'string') continue;
		for (const [, inner = ''] of value.matchAll(/\[\[sandbox\b([^\]]*)\]\]/g)) texts.push(inner);
	}
	for (const name of ['source_url', 'callback_url']) {
		const value = fields.get(name);
		if (typeof value !== 'string' || !URL.canParse(value)) continue;
		texts.push(...new URL(value).searchParams.getAll('sandbox'));
	}
	const field = fields.get('sandbox');
	if (typeof field === 'string') texts.push(field);
	return texts;
}
