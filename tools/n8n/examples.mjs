/** Reads the example workflows of the repository and makes them ready to run: with an id, and with a credential. */
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { manifest, projectDir } from '../paths.mjs';
import { filesFolderOf } from './launch.mjs';

const folder = join(projectDir, 'workflows');

export const credentialType = 'generationGatewayApi';

/**
 * @typedef {object} Workflow
 * @property {string} name
 * @property {Array<{ name: string, type: string, parameters?: object, credentials?: Record<string, { id: string, name: string }> } & Record<string, unknown>>} nodes
 * @property {Record<string, unknown>} connections
 * @property {Record<string, unknown>} [settings]
 * @property {Record<string, unknown>} [pinData]
 */

/** @typedef {{ file: string, id: string, workflow: Workflow }} Example */

/**
 * The files hold neither ids nor credentials, so that anybody can import them.
 * @returns {Example[]} sorted by file name; `id` is always the same for a file: "prompt-to-image.json" is promptToImage
 */
export function readExamples() {
	return readdirSync(folder)
		.filter((file) => file.endsWith('.json'))
		.sort()
		.map((file) => ({
			file,
			id: basename(file, '.json').replace(/-(\w)/g, (_, letter) => letter.toUpperCase()),
			workflow: JSON.parse(readFileSync(join(folder, file), 'utf8')),
		}));
}

/**
 * A copy in which every node of this package uses the credential.
 *
 * @param {Workflow} workflow
 * @param {{ id: string, name: string }} credential
 * @returns {Workflow}
 */
export function withCredential(workflow, { id, name }) {
	const nodes = workflow.nodes.map((node) =>
		node.type.startsWith(`${manifest.name}.`) ? { ...node, credentials: { [credentialType]: { id, name } } } : node,
	);
	return { ...workflow, nodes };
}

/** Nodes that are called from outside. */
const calledTypes = new Set([
	'n8n-nodes-base.webhook',
	'n8n-nodes-base.formTrigger',
	'n8n-nodes-base.wait',
	'@n8n/n8n-nodes-langchain.chatTrigger',
	`${manifest.name}.avatarVerificationTrigger`,
]);

/**
 * A copy in which every node that is called from outside has its webhook ID. n8n's command for importing adds none: n8n
 * then listens at another address than the one that its editor makes up and shows. The files have none, because n8n keeps
 * the one of a file that is imported in the editor, and everybody would know the address.
 *
 * @param {Workflow} workflow
 * @returns {Workflow}
 */
export function withAddresses(workflow) {
	const nodes = workflow.nodes.map((node) =>
		calledTypes.has(node.type) ? { ...node, webhookId: randomUUID() } : node,
	);
	return { ...workflow, nodes };
}

/** The address to which the examples send what they have made, until the user enters another address. */
const outside = 'https://example.com/';
/** The folder in which the examples store files: n8n's own in its Docker image. */
const folderInDocker = '/home/node/.n8n-files/';

/**
 * A copy that sends to the inbox of the sandbox what would leave this machine, and whose notes say so. It stores files in
 * the folder in which the n8n of this user folder may write.
 *
 * @param {Workflow} workflow
 * @param {{ baseUrl: string, userFolder: string }} place the address of the sandbox, and n8n's user folder
 * @returns {Workflow}
 */
export function onThisMachine(workflow, { baseUrl, userFolder }) {
	const inbox = `${baseUrl}/inbox`;
	const nodes = workflow.nodes.map((node) => {
		const { url, fileName, content } = /** @type {{ url?: string, fileName?: string, content?: string }} */ (
			node.parameters ?? {}
		);
		const changed = {
			...(node.type === 'n8n-nodes-base.httpRequest' && { url: url?.replace(outside, `${inbox}/`) }),
			...(node.type === 'n8n-nodes-base.readWriteFile' && {
				fileName: fileName?.replace(folderInDocker, `${filesFolderOf(userFolder)}/`),
			}),
			...(content !== undefined && {
				content: content
					.replace(/Set the URL in (\*\*.+?\*\*)\./, `$1 sends to the [inbox of the sandbox](${inbox}).`)
					.replace(/Set the folder in (\*\*.+?\*\*)\./, '$1 writes to the folder of files that `npm start` names.'),
			}),
		};
		return { ...node, parameters: { ...node.parameters, ...changed } };
	});
	return { ...workflow, nodes };
}

/**
 * A copy in which the node of this name, if there is one, has these parameters in place of its own.
 *
 * @param {Workflow} workflow
 * @param {string} name
 * @param {Record<string, unknown>} parameters
 * @returns {Workflow}
 */
export function withParameters(workflow, name, parameters) {
	const nodes = workflow.nodes.map((node) =>
		node.name === name ? { ...node, parameters: { ...node.parameters, ...parameters } } : node,
	);
	return { ...workflow, nodes };
}

/**
 * The node that a click on "Execute workflow" starts from.
 * @param {Workflow} workflow
 */
export const manualTriggerOf = (workflow) =>
	workflow.nodes.find((node) => node.type === 'n8n-nodes-base.manualTrigger')?.name;
