/** The price of the purchase log in a real n8n: the time until the first request leaves, the time after the last task, and that of a long batch. */
import { itemsOf, startExecution, untilFinished } from '../tools/n8n/executions.mjs';
import { say } from '../tools/report/step.mjs';
import { startInstance, type Instance } from '../test/n8n/support/instance.mts';
import { withoutPurchaseLog } from '../test/n8n/support/purchaseLog.mts';
import { createWorkflow, packageType } from '../test/n8n/support/workflow.mts';

const TIMES = 10;

/** A batch of more than a minute: tasks of 3 s, two at once. */
const LONG = { items: 42, concurrentTasks: 2, times: 3 };
const LONGEST_MS = 180_000;

interface Row {
	what: string;
	measured: string;
	goal: string;
}

interface Measured {
	/** From the start of the node to its first request. */
	firstMs: number;
	/** From the end of the last task to the end of the node. */
	behindMs: number;
	/** The whole node. */
	tookMs: number;
}

export async function purchaseLogRows(): Promise<Row[]> {
	const instance = await startInstance({ sandbox: { imageTaskMs: 3000 } });
	try {
		const { credential: withLog } = instance;
		const { credential: withoutLog } = await withoutPurchaseLog(instance);
		const rows: Row[] = [];
		for (const items of [1, 50]) {
			const without = await medianOf(instance, { credential: withoutLog, items });
			const log = await medianOf(instance, { credential: withLog, items });
			const key = await medianOf(instance, { credential: withLog, items, hasKey: true });
			rows.push(
				toRow(`${items} items, with the purchase log`, log, without, 'at most 0.6 s'),
				toRow(`${items} items, with a Purchase Key each`, key, without, 'at most 1 s'),
			);
		}
		const long = { items: LONG.items, concurrentTasks: LONG.concurrentTasks };
		const without = await medianOf(instance, { credential: withoutLog, ...long }, LONG.times);
		const log = await medianOf(instance, { credential: withLog, ...long }, LONG.times);
		const seconds = (without.tookMs / 1000).toFixed(1);
		rows.push({
			what: `a batch of ${seconds} s, with the purchase log`,
			measured: `${((100 * (log.tookMs - without.tookMs)) / without.tookMs).toFixed(1)} % longer`,
			goal: 'at most 3 %',
		});
		return rows;
	} finally {
		await instance.close();
	}
}

interface Case {
	credential: Instance['credential'];
	items: number;
	hasKey?: boolean;
	concurrentTasks?: number;
}

let runs = 0;

async function medianOf(instance: Instance, wanted: Case, times = TIMES): Promise<Measured> {
	const all: Measured[] = [];
	for (let time = 0; time <= times; time++) {
		const measured = await measure(instance, wanted);
		if (time > 0) all.push(measured); // the first one makes the table, and warms up
	}
	say(JSON.stringify({ ...wanted, credential: wanted.credential.name, all }));
	const of = (which: keyof Measured) => median(all.map((measured) => measured[which]));
	return { firstMs: of('firstMs'), behindMs: of('behindMs'), tookMs: of('tookMs') };
}

async function measure(
	{ rest, sandbox }: Instance,
	{ credential, items, hasKey, concurrentTasks }: Case,
): Promise<Measured> {
	sandbox.reset();
	runs++;
	const inputs = Array.from({ length: items }, (_, item) => ({ prompt: `picture ${runs}-${item}` }));
	const options = {
		...(hasKey ? { purchaseKey: '={{ $json.prompt }}' } : {}),
		...(concurrentTasks === undefined ? {} : { concurrentTasks }),
	};
	const parameters = { prompt: '={{ $json.prompt }}', result: 'urlOnly', options };
	const node = { name: 'Generate', type: packageType('imageGeneration'), parameters };
	const workflowId = await createWorkflow({ rest, credential }, inputs, [node]);
	const executionId = await startExecution(rest, workflowId, 'Start');
	const execution = await untilFinished(rest, executionId, { timeoutMs: LONGEST_MS });
	if (itemsOf(execution, 'Generate').length !== items) throw new Error(JSON.stringify(execution.error));
	const { startTime, executionTime } = execution.runData.Generate?.[0] as { startTime: number; executionTime: number };
	const [first] = sandbox.requests.filter(({ method }) => method === 'POST');
	const lastEndMs = Math.max(...sandbox.tasks.map(({ endsAt }) => endsAt));
	return {
		firstMs: (first?.at ?? NaN) - startTime,
		behindMs: startTime + executionTime - lastEndMs,
		tookMs: executionTime,
	};
}

function median(values: number[]): number {
	const sorted = values.toSorted((a, b) => a - b);
	return sorted[Math.floor(sorted.length / 2)] ?? NaN;
}

function toRow(what: string, { firstMs, behindMs }: Measured, without: Measured, goal: string): Row {
	const seconds = (ms: number) => `${(ms / 1000).toFixed(2)} s`;
	return {
		what,
		measured: `first request ${seconds(firstMs - without.firstMs)} later than without (${seconds(without.firstMs)}), end ${seconds(behindMs - without.behindMs)} later after the last task`,
		goal,
	};
}
