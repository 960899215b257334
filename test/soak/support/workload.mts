/** Ten workflows of one account, each with 10 items every two minutes, at a service that fails in all its ways. */
import { buyingNodes, saveChain } from '../../crash/support/batch.mts';
import { activate } from '../../n8n/support/production.mts';
import type { Signed, TestNode } from '../../n8n/support/workflow.mts';

export const ITEMS = 10;
const EVERY_MINUTES = 2;
/** Tasks that the account can run: fewer than there are at times. */
export const TASKS_AT_ONCE = 60;
/** From the acceptance of a task. */
const TIMEOUT_MINUTES = 3;

/**
 * The end that an item must have. `result`: with its file. `unknown`: the answer to the creating request was lost.
 * `refused`: nothing is bought. `failed`: the service has failed. `noFile`: it has finished, but the file cannot be
 * downloaded. `late`: it finishes long after the timeout.
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
		'poll=401,403*2 duration=20s',
		'poll=402 duration=100s',
		'poll=404*2 hidden=5s duration=90s',
		'created=wrapped_task_id record=wrapped duration=5s case=upper',
		'result=metadata_result_urls duration=10s',
		'file=502,429:2 duration=5s',
		'file=reset,cut duration=5s',
		'bytes=1 bytes_per_second=300000 duration=5s',
		// Pages of what is between n8n and the service, and envelopes.
		'poll=401html*2,403html,404text,403proxy duration=70s',
		'poll=status_error*2,error_200,code_msg duration=30s',
		'created=camel duration=10s',
		'created=list ids=both duration=75s',
		// Records of other tasks.
		'poll=failed_other*2,done_other*2 duration=20s',
		// The file is at the API, and needs the key.
		'result_at=gateway duration=10s',
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
	late: ['duration=10m'],
};

const kinds = Object.values(KINDS).flat();
/** The shift of an execution's kinds against those of the one before; it has no divisor in common with their number. */
const SHIFT = 7;

export const endingOf = (prompt: string) =>
	(Object.keys(KINDS) as Ending[]).find((ending) =>
		KINDS[ending].some((directives) => prompt.endsWith(`[[sandbox ${directives}]]`)),
	);

/** The name of a workflow and the start of its trigger: they tell the executions of all workflows apart. */
export const intentsOf = (prompt: string) => /^(\w+) (\d+) /.exec(prompt)?.slice(1, 3).join(' ');

/** Two triggers that start in the same moment have the same start. */
const START_MS = 'Math.round(Date.parse($json.timestamp) / 10000) * 10000';

/** Each is the Purchase Key of its item, too. */
const prompts = (name: string) => `={{ ${JSON.stringify([...kinds, ...kinds])}
	.slice(Math.floor(${START_MS} / ${60_000 * EVERY_MINUTES}) * ${SHIFT} % ${kinds.length})
	.slice(0, ${ITEMS})
	.map((directives, index) => "${name} " + ${START_MS} + " " + index + " [[sandbox " + directives + "]]") }}`;

export interface Scheduled {
	name: string;
	workflowId: string;
	/** Another workflow gets the results. */
	inBackground: boolean;
}

/** The names of the workflows. Those named `twin` run together and ask for the same, those named `background` hand their results to another workflow. */
const WORKFLOWS = [
	...['survive1', 'survive2', 'survive3', 'survive4', 'survive5'],
	...['twin', 'twin'],
	...['background1', 'background2', 'background3'],
];

/** Executions that begin in a minute. */
export const EXECUTIONS_PER_MINUTE = WORKFLOWS.length / EVERY_MINUTES;

/** Makes the workflows active, one after the other through the two minutes, and the one that gets the results of some. */
export async function schedule(target: Signed): Promise<{ scheduled: Scheduled[]; receiverId: string }> {
	const receiverId = await saveChain(target, 'Receiver', [
		{ name: 'Start', type: 'n8n-nodes-base.executeWorkflowTrigger', typeVersion: 1, parameters: {} },
		{ name: 'Got', type: 'n8n-nodes-base.noOp', typeVersion: 1, parameters: {} },
	]);
	await activate(target, receiverId);
	const scheduled: Scheduled[] = [];
	const names = [...new Set(WORKFLOWS)];
	for (const name of WORKFLOWS) {
		const inBackground = name.startsWith('background');
		const atSecond = Math.floor((names.indexOf(name) * 60 * EVERY_MINUTES) / names.length);
		const workflowId = await saveChain(target, name, [
			...triggerNodes(name, atSecond),
			...buyers(inBackground ? receiverId : undefined),
		]);
		await activate(target, workflowId);
		scheduled.push({ name, workflowId, inBackground });
	}
	return { scheduled, receiverId };
}

const triggerNodes = (name: string, atSecond: number): TestNode[] => [
	{
		name: 'Every Two Minutes',
		type: 'n8n-nodes-base.scheduleTrigger',
		typeVersion: 1.2,
		parameters: {
			rule: {
				interval: [
					{
						field: 'cronExpression',
						expression: `${atSecond % 60} ${Math.floor(atSecond / 60)}-59/${EVERY_MINUTES} * * * *`,
					},
				],
			},
		},
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
];

const ASKED = '$("Split").item.json.prompt';

/** They survive restarts in the workflow, or in the background. */
function buyers(receiverId?: string): TestNode[] {
	const options = { timeoutMinutes: TIMEOUT_MINUTES, purchaseKey: `={{ ${ASKED} }}` };
	const settings = { onError: 'continueRegularOutput', retryOnFail: true, maxTries: 2, waitBetweenTries: 1_000 };
	const nodes = buyingNodes({ survives: receiverId === undefined, options }, settings);
	if (receiverId === undefined) return nodes;
	const handOver = {
		wait: 'inAnotherWorkflow',
		workflowId: { __rl: true, mode: 'id', value: receiverId },
		passAlong: `={{ { "asked": ${ASKED} } }}`,
	};
	return nodes.map((node) =>
		node.name === 'Generate' ? { ...node, parameters: { ...node.parameters, ...handOver } } : node,
	);
}
