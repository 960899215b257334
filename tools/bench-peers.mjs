/** `npm run bench:peers`: the same job in a real n8n with this package and with n8n's own nodes. Prints a table and writes it into the README. */
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { sandboxKey, startInstance } from '../test/n8n/support/instance.mts';
import { withSection } from './docs/section.mts';
import { n8nVersion } from './install/n8n.mjs';
import { startExecution, untilFinished } from './n8n/executions.mjs';
import { projectDir } from './paths.mjs';
import { say, step, ToolError } from './report/step.mjs';

const itemCount = 10;
const taskSeconds = 12;
const trigger = 'Start';

/** @typedef {import('../test/n8n/support/instance.mts').Instance} Instance */
/** @typedef {{ name: string, type: string, typeVersion: number, parameters: Record<string, unknown>, credentials?: Record<string, unknown> }} Node */
/** @typedef {{ nodes: Node[], connections: Record<string, string[]> }} Peer the nodes behind the trigger; for each node, what follows its outputs */

export default async function benchPeers() {
	const instance = await step('Starting n8n and the sandbox', () => startInstance());
	try {
		const rows = [
			await measure(instance, 'This package', thisPackage(instance)),
			await measure(instance, 'HTTP Request → Wait 10 s → HTTP Request → If → back to Wait', await ownNodes(instance)),
		];
		const table = [
			`Measured on ${new Date().toISOString().slice(0, 10)} with n8n ${n8nVersion} on ${cpus().length} cores (${cpus()[0]?.model.trim()}): ${itemCount} videos, tasks of ${taskSeconds} s, against the sandbox:`,
			'',
			'| | Wall time | Requests | Nodes |',
			'|---|---|---|---|',
			...rows,
		].join('\n');
		say(`\n${table}\n`);
		const readme = join(projectDir, 'README.md');
		writeFileSync(readme, withSection(readFileSync(readme, 'utf8'), 'peers', table));
		say('README.md: table written.');
	} finally {
		await instance.close();
	}
}

/**
 * @param {Instance} instance
 * @returns {Peer}
 */
function thisPackage({ credential: { id, name } }) {
	const parameters = { model: 'beta-v3', prompt: '={{ $json.prompt }}' };
	const type = 'n8n-nodes-generation-gateway.videoGeneration';
	const node = { name: 'Generate', type, typeVersion: 1, parameters, credentials: { generationGatewayApi: { id, name } } };
	return { nodes: [node], connections: { [trigger]: ['Generate'] } };
}

/**
 * What n8n's documentation and templates show for such services: all items pass through the nodes together, and those
 * that have not ended go round again.
 *
 * @param {Instance} instance
 * @returns {Promise<Peer>}
 */
async function ownNodes({ rest, sandbox }) {
	const data = { name: 'Authorization', value: `Bearer ${sandboxKey}` };
	const { id, name } = await rest.request('POST', '/rest/credentials', { name: 'Header', type: 'httpHeaderAuth', data });
	const credentials = { httpHeaderAuth: { id: String(id), name: String(name) } };
	const http = (/** @type {string} */ name, /** @type {Record<string, unknown>} */ parameters) => ({
		name,
		type: 'n8n-nodes-base.httpRequest',
		typeVersion: 4.2,
		parameters: { authentication: 'genericCredentialType', genericAuthType: 'httpHeaderAuth', ...parameters },
		credentials,
	});
	const url = `${sandbox.baseUrl}/v1/videos/generations`;
	const body = "={{ JSON.stringify({ model: 'beta-v3', prompt: $json.prompt }) }}";
	const condition = {
		id: '1',
		leftValue: '={{ $json.status }}',
		rightValue: 'completed',
		operator: { type: 'string', operation: 'equals' },
	};
	const options = { caseSensitive: true, leftValue: '', typeValidation: 'strict', version: 2 };
	return {
		nodes: [
			http('Submit', { method: 'POST', url, sendBody: true, specifyBody: 'json', jsonBody: body }),
			{ name: 'Wait', type: 'n8n-nodes-base.wait', typeVersion: 1.1, parameters: { amount: 10 } },
			http('Get Status', { url: `=${url}/{{ $json.id }}` }),
			{ name: 'If', type: 'n8n-nodes-base.if', typeVersion: 2.2, parameters: { conditions: { options, combinator: 'and', conditions: [condition] } } },
		],
		connections: { [trigger]: ['Submit'], Submit: ['Wait'], Wait: ['Get Status'], 'Get Status': ['If'], If: ['', 'Wait'] },
	};
}

/**
 * @param {Instance} instance
 * @param {string} title
 * @param {Peer} peer
 * @returns {Promise<string>} a row of the table
 */
async function measure({ rest, sandbox }, title, { nodes, connections }) {
	return await step(title, async (tell) => {
		const prompts = Array.from({ length: itemCount }, (_, index) => `video ${index} [[sandbox duration=${taskSeconds}s]]`);
		const start = { name: trigger, type: 'n8n-nodes-base.manualTrigger', typeVersion: 1, parameters: {} };
		const { id } = await rest.request('POST', '/rest/workflows', {
			name: title,
			settings: { executionOrder: 'v1' },
			nodes: [start, ...nodes].map((node, index) => ({ ...node, id: String(index), position: [200 * index, 0] })),
			connections: Object.fromEntries(
				Object.entries(connections).map(([from, outputs]) => [
					from,
					{ main: outputs.map((node) => (node ? [{ node, type: 'main', index: 0 }] : [])) },
				]),
			),
			pinData: { [trigger]: prompts.map((prompt) => ({ json: { prompt } })) },
		});
		sandbox.reset();
		const { status, error, runData, record } = await untilFinished(rest, await startExecution(rest, String(id), trigger), { timeoutMs: 180_000 });
		const completed = (runData[nodes.at(-1)?.name ?? ''] ?? [])
			.flatMap((run) => run.data?.main?.[0] ?? [])
			.filter((item) => item.json.status === 'completed').length;
		if (status !== 'success' || completed !== itemCount) {
			throw new ToolError(`${title}: ${status}, ${completed} of ${itemCount} videos. ${JSON.stringify(error ?? '')}`);
		}
		const seconds = (Date.parse(record.stoppedAt) - Date.parse(record.startedAt)) / 1000;
		const requests = sandbox.stats().apiRequests;
		tell(`${seconds.toFixed(1)} s, ${requests} requests`);
		return `| ${title} | ${seconds.toFixed(1)} s | ${requests} | ${nodes.length} |`;
	});
}
