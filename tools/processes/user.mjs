/** Users of this machine, for programs that refuse to run as root. */
import { requireSuccess, run } from './child.mjs';

/** @typedef {{ uid: number, gid: number }} User */

/**
 * @param {string} name e.g. "postgres"
 * @returns {Promise<User>}
 */
export async function userOf(name) {
	const [uid, gid] = await Promise.all(
		['-u', '-g'].map(async (which) => {
			const result = await run('id', [which, name]);
			requireSuccess(`Looking for the user ${name}`, result);
			return Number(result.stdout);
		}),
	);
	return { uid, gid };
}
