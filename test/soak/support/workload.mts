/** Two workflows that run every minute, each with 20 items at a service that fails in all its ways. */
import { buyingNodes, saveChain } from '../../crash/support/batch.mts';
import { activate } from '../../n8n/support/production.mts';
import type { Signed } from '../../n8n/support/workflow.mts';

export const ITEMS = 20;
/** From the acceptance of a task. */
const TIMEOUT_MINUTES = 3;

/**
 * The end that an item must have. `result`: with its file. `unknown`: the answer to the creating request was lost.
 * `refused`: nothing is bought. `failed`: the service has failed. `noFile`: it has finished, but the file cannot be
 * downloaded. `late`: it never finishes.
 */
export type Ending = 'result' | 'unknown' | 'refused' | 'failed' | 'noFile' | 'late';

/** Directives of the sandbox. */
const KINDS: Record<Ending, string[]> = {
	result: [
		'duration=2s',
		'duration=15s progress=jump id=odd',
		'duration=40s progress=stuck',
		'duration=75s',
		'duration=110s progress=missing',
		'create=429:2,429:date3 duration=5s',
		'create=503:1*2 duration=5s',
		// Half of the answer is there, with the ID.
		'create=cut duration=30s',
		'create=truncated duration=5s',
		'create=slow:3s duration=30s',
		'create=slow:8s!after duration=5s',
		'poll=500*2,502,504 duration=5s',
		'poll=html,truncated,empty,success_false duration=60s',
		'poll=reset,cut,503html duration=5s',
		'poll=429:3*2 duration=70s',
		'poll=slow:6s*2 duration=5s',
		'poll=404*2 hidden=5s duration=90s',
		'created=wrapped_task_id record=wrapped duration=5s case=upper',
		'result=metadata_result_urls duration=10s',
		'file=502,429:2 duration=5s',
		'file=reset,cut duration=5s',
		'bytes=1 bytes_per_second=300000 duration=5s',
	],
	unknown: [
		'create=500!after',
		'create=502',
		'create=504!after',
		'create=503html!after',
		'create=reset!after',
		'create=empty!after',
		'created=no_id',
	],
	// Permanently: Retry On Fail sends what was refused again.
	refused: ['create=400*all', 'create=422~object*all'],
	failed: [
		'fail=generation_failed duration=5s',
		'fail=content_policy_violation duration=20s',
		'fail=expired failed_word=expired duration=80s',
		'result=none duration=5s',
	],
	noFile: ['file=404*all duration=5s', 'file=500*all duration=30s', 'expires=0s duration=5s'],
	late: ['duration=never'],
};

const kinds = Object.values(KINDS).flat();
/** The shift of an execution's kinds against those of the one before; it has no divisor in common with their number. */
const SHIFT = 7;

export const endingOf = (prompt: string) =>
	(Object.keys(KINDS) as Ending[]).find((ending) =>
		KINDS[ending].some((directives) => prompt.endsWith(`[[sandbox ${directives}]]`)),
	);

/** The name of a workflow and the start of its trigger: they tell the executions of both workflows apart. */
export const intentsOf = (prompt: string) => /^(\w+) (\d+) /.exec(prompt)?.slice(1, 3).join(' ');

const prompts = (name: string) => `={{ ${JSON.stringify([...kinds, ...kinds])}
	.slice(Math.floor(Date.parse($json.timestamp) / 60000) * ${SHIFT} % ${kinds.length})
	.slice(0, ${ITEMS})
	.map((directives, index) => "${name} " + Date.parse($json.timestamp) + " " + index + " [[sandbox " + directives + "]]") }}`;

export interface Scheduled {
	name: string;
	workflowId: string;
}

/** Makes both workflows active. */
export async function schedule(target: Signed): Promise<Scheduled[]> {
	const scheduled: Scheduled[] = [];
	for (const survives of [true, false]) {
		const name = survives ? 'durable' : 'plain';
		const workflowId = await saveChain(target, name, [
			{
				name: 'Every Minute',
				type: 'n8n-nodes-base.scheduleTrigger',
				typeVersion: 1.2,
				parameters: { rule: { interval: [{ field: 'minutes', minutesInterval: 1 }] } },
			},
			{
				name: 'Prompts',
				type: 'n8n-nodes-base.set',
				typeVersion: 3.4,
				parameters: {
					assignments: { assignments: [{ id: 'p', name: 'prompt', type: 'array', value: prompts(name) }] },
					options: {},
				},
			},
			{
				name: 'Split',
				type: 'n8n-nodes-base.splitOut',
				typeVersion: 1,
				parameters: { fieldToSplitOut: 'prompt', options: {} },
			},
			...buyingNodes(
				{ survives, options: { timeoutMinutes: TIMEOUT_MINUTES } },
				{ onError: 'continueRegularOutput', retryOnFail: true, maxTries: 2, waitBetweenTries: 1_000 },
			),
		]);
		await activate(target, workflowId);
		scheduled.push({ name, workflowId });
	}
	return scheduled;
}
