/** `npm run bench:peers`: the same job in a real n8n with this package and with n8n's own nodes. Prints a table and writes it into the README. */
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { sandboxKey, startInstance, type Instance } from '../test/n8n/support/instance.mts';
import { createWorkflow, packageType, type TestNode } from '../test/n8n/support/workflow.mts';
import { withSection } from '../tools/docs/section.mts';
import { n8nVersion } from '../tools/install/n8n.mjs';
import { itemsOf, startExecution, untilFinished } from '../tools/n8n/executions.mjs';
import { projectDir } from '../tools/paths.mjs';
import { say, step, ToolError } from '../tools/report/step.mjs';

const itemCount = 10;
const taskSeconds = 12;

export default async function benchPeers() {
	const instance = await step('Starting n8n and the sandbox', () => startInstance());
	try {
		const rows = [
			await measure(instance, 'This package', [{ name: 'Generate', type: packageType('videoGeneration'), parameters: { model: 'beta-v3', prompt: '={{ $json.prompt }}' } }]),
			await measure(instance, 'HTTP Request → Wait 10 s → HTTP Request → If → back to Wait', await ownNodes(instance), {
				If: { main: [[], [{ node: 'Wait', type: 'main', index: 0 }]] },
			}),
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
 * What n8n's documentation and templates show for such services: all items pass through the nodes together, and those
 * that have not ended go round again.
 */
async function ownNodes({ rest, sandbox }: Instance): Promise<TestNode[]> {
	const data = { name: 'Authorization', value: `Bearer ${sandboxKey}` };
	const { id, name } = await rest.request('POST', '/rest/credentials', { name: 'Header', type: 'httpHeaderAuth', data });
	const http = (nodeName: string, parameters: Record<string, unknown>): TestNode => ({
		name: nodeName,
		type: 'n8n-nodes-base.httpRequest',
		typeVersion: 4.2,
		parameters: { authentication: 'genericCredentialType', genericAuthType: 'httpHeaderAuth', ...parameters },
		credentials: { httpHeaderAuth: { id, name } },
	});
	const url = `${sandbox.baseUrl}/v1/videos/generations`;
	const jsonBody = "={{ JSON.stringify({ model: 'beta-v3', prompt: $json.prompt }) }}";
	const condition = { id: '1', leftValue: '={{ $json.status }}', rightValue: 'completed', operator: { type: 'string', operation: 'equals' } };
	const options = { caseSensitive: true, leftValue: '', typeValidation: 'strict', version: 2 };
	return [
		http('Submit', { method: 'POST', url, sendBody: true, specifyBody: 'json', jsonBody }),
		{ name: 'Wait', type: 'n8n-nodes-base.wait', typeVersion: 1.1, parameters: { amount: 10 } },
		http('Get Status', { url: `=${url}/{{ $json.id }}` }),
		{ name: 'If', type: 'n8n-nodes-base.if', typeVersion: 2.2, parameters: { conditions: { options, combinator: 'and', conditions: [condition] } } },
	];
}

/** Returns a row of the table. `connections` are those that do not lead from one node to the next. */
async function measure(instance: Instance, title: string, nodes: TestNode[], connections: Record<string, unknown> = {}): Promise<string> {
	return await step(title, async (tell) => {
		const { rest, sandbox } = instance;
		const items = Array.from({ length: itemCount }, (_, index) => ({ prompt: `video ${index} [[sandbox duration=${taskSeconds}s]]` }));
		const id = await createWorkflow(instance, items, nodes, {}, connections);
		sandbox.reset();
		const execution = await untilFinished(rest, await startExecution(rest, id, 'Start'), { timeoutMs: 180_000 });
		const { status, error, runData, record } = execution;
		const last = nodes.at(-1)?.name ?? '';
		const completed = (runData[last] ?? []).flatMap((_, run) => itemsOf(execution, last, { run })).filter(({ json }) => json.status === 'completed').length;
		if (status !== 'success' || completed !== itemCount) {
			throw new ToolError(`${title}: ${status}, ${completed} of ${itemCount} videos. ${JSON.stringify(error ?? '')}`);
		}
		const seconds = ((Date.parse(record.stoppedAt) - Date.parse(record.startedAt)) / 1000).toFixed(1);
		const requests = sandbox.stats().apiRequests;
		tell(`${seconds} s, ${requests} requests`);
		return `| ${title} | ${seconds} s | ${requests} | ${nodes.length} |`;
	});
}
