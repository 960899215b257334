/** Gives the local n8n the example workflows, and a credential for the sandbox, with n8n's own import. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { credentialType, onThisMachine, readExamples, withAddresses, withCredential } from '../n8n/examples.mjs';
import { runN8n } from '../n8n/launch.mjs';

const credential = { id: 'sandboxGateway', name: 'Sandbox Gateway', type: credentialType };

/** @typedef {{ runtime: import('../install/n8n.mjs').N8nRuntime, userFolder: string }} Instance of n8n; it must not be running */

/**
 * Imports what is missing. An example that was imported once is the user's and not imported again; the credential only
 * when the sandbox has moved to another port and the user has not pointed the credential elsewhere.
 *
 * @param {Instance} instance
 * @param {{ baseUrl: string, apiKey: string }} sandbox
 * @returns {Promise<string>} what was done
 */
export async function importExamples(instance, { baseUrl, apiKey }) {
	const stateFile = join(instance.userFolder, 'imported.json');
	/** @type {{ baseUrl?: string, examples: string[] }} */
	const before = existsSync(stateFile) ? JSON.parse(readFileSync(stateFile, 'utf8')) : { examples: [] };
	const after = { ...before };
	const done = [];

	if (before.baseUrl !== baseUrl && (!before.baseUrl || (await addressInN8n(instance)) === before.baseUrl)) {
		const data = { baseUrl, apiKey };
		await importInto(instance, 'credentials', [{ ...credential, data }]);
		after.baseUrl = baseUrl;
		done.push(`credential ${before.baseUrl ? 'moved' : 'created'}`);
	}
	const examples = readExamples().filter(({ id }) => !before.examples.includes(id));
	if (examples.length > 0) {
		await importInto(
			instance,
			'workflow',
			examples.map(({ id, workflow }) => ({
				id,
				active: false,
				...onThisMachine(withAddresses(withCredential(workflow, credential)), {
					baseUrl,
					userFolder: instance.userFolder,
				}),
			})),
		);
		after.examples = [...before.examples, ...examples.map(({ id }) => id)];
		done.push(`${examples.length} workflows created`);
	}
	writeFileSync(stateFile, JSON.stringify(after));
	return done.join(', ') || 'as you left them';
}

/**
 * @param {Instance} instance
 * @param {'credentials' | 'workflow'} what
 * @param {unknown[]} content
 */
async function importInto(instance, what, content) {
	const file = join(instance.userFolder, 'import.json');
	mkdirSync(instance.userFolder, { recursive: true });
	writeFileSync(file, JSON.stringify(content));
	await runN8n(instance, [`import:${what}`, `--input=${file}`]);
	rmSync(file);
}

/**
 * The address in the credential as it is in n8n now; nothing if the user has removed it.
 * @param {Instance} instance
 */
async function addressInN8n(instance) {
	const file = join(instance.userFolder, 'export.json');
	try {
		await runN8n(instance, ['export:credentials', `--id=${credential.id}`, '--decrypted', `--output=${file}`]);
		return JSON.parse(readFileSync(file, 'utf8'))[0].data.baseUrl;
	} catch {
		return undefined;
	} finally {
		rmSync(file, { force: true });
	}
}
