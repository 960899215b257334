/** Keeps a ready credential for the sandbox in the local n8n. */
import { credentialType } from '../n8n/examples.mjs';
import { N8nRequestError } from '../n8n/rest.mjs';

export const credentialName = 'Sandbox Gateway';

/**
 * Creates it when it is missing and corrects the address when the sandbox has moved to another port. A credential that
 * the user pointed elsewhere is left as it is.
 *
 * @param {import('../n8n/rest.mjs').RestClient} rest
 * @param {{ baseUrl: string, apiKey: string }} sandbox
 * @param {import('./state.mjs').State['credential']} known
 * @returns {Promise<{ id: string, name: string, baseUrl: string, change: 'created' | 'moved' | 'kept' }>} `baseUrl` is the one that we set
 */
export async function ensureCredential(rest, { baseUrl, apiKey }, known) {
	const wanted = { name: credentialName, type: credentialType, data: { baseUrl, apiKey } };
	const present = known && (await readCredential(rest, known.id));
	if (!present) {
		const { id } = await rest.request('POST', '/rest/credentials', wanted);
		return { id, name: credentialName, baseUrl, change: 'created' };
	}
	const { id, name } = present;
	if (present.data.baseUrl !== known.baseUrl || known.baseUrl === baseUrl) {
		return { id, name, baseUrl: known.baseUrl, change: 'kept' };
	}
	await rest.request('PATCH', `/rest/credentials/${id}`, { ...wanted, name, data: { ...present.data, baseUrl, apiKey } });
	return { id, name, baseUrl, change: 'moved' };
}

/**
 * @param {import('../n8n/rest.mjs').RestClient} rest
 * @param {string} id
 * @returns {Promise<{ id: string, name: string, data: Record<string, unknown> } | undefined>}
 */
async function readCredential(rest, id) {
	try {
		return await rest.request('GET', `/rest/credentials/${id}?includeData=true`);
	} catch (error) {
		if (error instanceof N8nRequestError && error.status === 404) return undefined;
		throw error;
	}
}
