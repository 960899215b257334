/** Keeps the example workflows in the local n8n up to date without touching what the user changed. */
import { createHash } from 'node:crypto';
import { readExamples, withCredential } from '../n8n/examples.mjs';
import { N8nRequestError } from '../n8n/rest.mjs';

/**
 * @param {import('../n8n/rest.mjs').RestClient} rest
 * @param {{ id: string, name: string }} credential
 * @param {import('./state.mjs').State['workflows']} known
 */
export async function ensureWorkflows(rest, credential, known) {
	const count = { created: 0, updated: 0, unchanged: 0, yours: 0 };
	/** @type {import('./state.mjs').State['workflows']} */
	const workflows = {};
	for (const { id, workflow } of readExamples()) {
		const content = withCredential(workflow, credential);
		const fileHash = createHash('sha256').update(JSON.stringify(content)).digest('hex');
		const present = await readWorkflow(rest, id);
		const before = known[id];

		if (!present) {
			const { versionId } = await rest.request('POST', '/rest/workflows', { ...content, id });
			workflows[id] = { fileHash, versionId };
			count.created++;
		} else if (present.versionId !== before?.versionId) {
			if (before) workflows[id] = before;
			count.yours++;
		} else if (before.fileHash === fileHash) {
			workflows[id] = before;
			count.unchanged++;
		} else {
			const { versionId } = await rest.request('PATCH', `/rest/workflows/${id}`, { ...content, versionId: present.versionId });
			workflows[id] = { fileHash, versionId };
			count.updated++;
		}
	}
	return { workflows, count };
}

/**
 * @param {import('../n8n/rest.mjs').RestClient} rest
 * @param {string} id
 * @returns {Promise<{ versionId: string } | undefined>}
 */
async function readWorkflow(rest, id) {
	try {
		return await rest.request('GET', `/rest/workflows/${id}`);
	} catch (error) {
		if (error instanceof N8nRequestError && [403, 404].includes(error.status)) return undefined;
		throw error;
	}
}
