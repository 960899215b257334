import { createHash } from 'crypto';
import type { CreatedThing } from '../../core/errors';

/** The hash that tells a request from another one: of all that is sent, and of what tells files that are still to be uploaded. */
export function hashOf(thing: CreatedThing, request: unknown): string {
	return createHash('sha256')
		.update(`${thing} ${JSON.stringify(request)}`)
		.digest('base64')
		.slice(0, 22);
}
