import { createHash } from 'crypto';
import type { CreatedThing } from '../../core/errors';

/** Tells a request from another one: all that is sent, and the content of files that are still to be uploaded. */
export function hashOf(thing: CreatedThing, request: unknown): string {
	return createHash('sha256')
		.update(`${thing} ${JSON.stringify(request)}`)
		.digest('base64')
		.slice(0, 22);
}
