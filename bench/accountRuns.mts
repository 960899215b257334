/** Executions that share an account with few places, in a real n8n, as the service sees them. */
import { startSandbox } from '../sandbox/index.mts';
import { credentialType } from '../tools/n8n/examples.mjs';
import { itemsOf, startExecution, untilFinished } from '../tools/n8n/executions.mjs';
import { sandboxKey, type Instance } from '../test/n8n/support/instance.mts';
import { pause } from '../test/n8n/support/until.mts';
import { createWorkflow, packageType } from '../test/n8n/support/workflow.mts';

type Service = Awaited<ReturnType<typeof startSandbox>>;

export interface AccountCase {
	/** Tasks that the account can run at once. */
	places: number;
	taskMs: number;
	/** Settings of the credential. */
	credential?: object;
	requestsPerSecond?: number;
}

export interface Runs {
	executions: number;
	items: number;
	/** Milliseconds after the first ones. */
	afterMs?: number;
}

export interface Seen {
	/** From the first request to the end of the last execution. */
	ms: number;
	/** The shortest time that the places allow. */
	limitMs: number;
	/** Items without a result. */
	refused: string[];
	/** Answers of 429. */
	answers429: number;
	mostPerSecond: number;
	/** Of each group of runs: from its start to its end. */
	tookMs: number[];
}

/** Plays runs that share one account. */
export async function playAccount(
	{ rest }: Pick<Instance, 'rest'>,
	wanted: AccountCase,
	groups: Runs[],
): Promise<Seen> {
	const { places, taskMs, requestsPerSecond = 60 } = wanted;
	const service = await startSandbox({ tasksAtOnce: places, imageTaskMs: taskMs, requestsPerSecond });
	try {
		const data = { baseUrl: service.baseUrl, apiKey: sandboxKey, ...wanted.credential };
		const created = await rest.request('POST', '/rest/credentials', { name: 'Account', type: credentialType, data });
		const credential = { id: String(created.id), name: String(created.name), data };
		const ended = await Promise.all(
			groups.map(async ({ executions, items, afterMs = 0 }, group) => {
				const inputs = Array.from({ length: items }, (_, item) => ({ prompt: `picture ${group} ${item}` }));
				// A second manual run of the same requests would be a double click.
				const prompt = '={{ $json.prompt }} of {{ $execution.id }}';
				const parameters = { prompt, result: 'urlOnly' };
				const node = { name: 'Generate', type: packageType('imageGeneration'), parameters };
				const settings = { onError: 'continueRegularOutput' };
				const workflowId = await createWorkflow({ rest, credential }, inputs, [{ ...node, ...settings }]);
				await pause(afterMs);
				const startedAtMs = Date.now();
				const ids = await Promise.all(
					Array.from({ length: executions }, async () => await startExecution(rest, workflowId, 'Start')),
				);
				const finished = await Promise.all(ids.map(async (id) => await untilFinished(rest, id)));
				const refused = finished.flatMap((execution) =>
					itemsOf(execution, 'Generate').flatMap(({ json }) => (json.error === undefined ? [] : String(json.error))),
				);
				return { refused, tookMs: Date.now() - startedAtMs };
			}),
		);
		return {
			...asSeen(service, wanted),
			refused: ended.flatMap(({ refused }) => refused),
			tookMs: ended.map(({ tookMs }) => tookMs),
		};
	} finally {
		await service.close();
	}
}

function asSeen(service: Service, { places, taskMs }: AccountCase): Omit<Seen, 'refused' | 'tookMs'> {
	const { requests, tasks } = service;
	const sentAtMs = requests.map(({ at }) => at);
	return {
		ms: Date.now() - Math.min(...sentAtMs),
		limitMs: Math.ceil(tasks.length / places) * taskMs,
		answers429: requests.filter(({ status }) => status === 429).length,
		mostPerSecond: Math.max(...sentAtMs.map((from) => sentAtMs.filter((at) => at >= from && at < from + 1000).length)),
	};
}
