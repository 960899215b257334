import { createHash } from 'crypto';
import type { CreatedThing } from '../../core/errors';
import { isPlainObject } from '../../core/json';

/**
 * The hash that tells a request from another one: of what the user has chosen (`Chosen`), and of what tells files that are still
 * to be uploaded. The order of the fields does not count: a release may show them in another one.
 */
export function hashOf(thing: CreatedThing, request: unknown): string {
	return createHash('sha256')
		.update(`${thing} ${JSON.stringify(request, withSortedKeys)}`)
		.digest('base64')
		.slice(0, 22);
}

function withSortedKeys(_name: string, value: unknown): unknown {
	if (!isPlainObject(value)) return value;
	return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
