/** Executions drawn at random: three images, or one, of one way to wait, at a service that is slow, busy or silent now and then. */
import { createHash } from 'node:crypto';
import { activate } from '../../n8n/support/production.mts';
import type { Instance } from '../../n8n/support/instance.mts';
import type { TestNode } from '../../n8n/support/workflow.mts';
import { buyingNodes, saveChain, webhookNodes } from './batch.mts';

const ITEMS = 3;
const ASKED = '{{ $("Split").item.json.prompt }}';

interface Way {
	words: string;
	survives?: boolean;
	options?: Record<string, unknown>;
	settings?: Partial<TestNode>;
	/** Another workflow gets the results. */
	inBackground?: boolean;
	/** The service that calls the webhook does so twice, now and then. */
	isCalledTwice?: boolean;
}

/** Each is a workflow, so its executions share what n8n keeps of a node. */
const WAYS: Way[] = [
	{ words: 'Until Ready' },
	{ words: 'Purchase Key', options: { purchaseKey: `=${ASKED}` }, isCalledTwice: true },
	{ words: 'Across Restarts', survives: true },
	{
		words: 'Retry On Fail',
		survives: true,
		settings: { retryOnFail: true, maxTries: 2, waitBetweenTries: 1_000 },
	},
	{ words: 'In Another Workflow', inBackground: true },
];

export interface Saved extends Way {
	workflowId: string;
	url: string;
}

/** An execution that a webhook has started, or two of one Purchase Key. */
export interface Order extends Saved {
	/** All its prompts, and nothing else, contain it. */
	name: string;
	prompts: string[];
	/** When the webhook is called, in milliseconds of its round. */
	callsAtMs: number[];
}

/** In half of all items, nothing goes wrong at the service. */
const TROUBLES = [
	...[
		'create=slow:2s',
		'create=slow:4s',
		'create=slow:2s!after',
		'create=slow:5s!after',
		'create=503:1',
		'create=429:2',
	],
	...['create=reset!after', 'create=504!after', 'fail=generation_failed', 'poll=503*2', 'poll=slow:4s'],
];

/** The service has accepted it, and no answer with an ID ever comes. */
export const isLost = (prompt: string) => /create=(reset|504)!after/.test(prompt);
export const fails = (prompt: string) => prompt.includes('fail=');

/** Numbers that follow from the seed: at least 0, below 1. */
export function seeded(seed: number) {
	let count = 0;
	const next = () => createHash('sha256').update(`${seed} ${count++}`).digest().readUInt32BE() / 2 ** 32;
	return {
		between: (least: number, most: number) => least + next() * (most - least),
		isLucky: (share: number) => next() < share,
		pick: <T,>(all: readonly T[]): T => all[Math.floor(next() * all.length)] as T,
	};
}
export type Draw = ReturnType<typeof seeded>;

/** Saves a workflow for each way, and the one that gets results. */
export async function saveWays(target: Instance): Promise<{ ways: Saved[]; receiverId: string }> {
	const receiverId = await saveChain(target, 'Receiver', [
		{ name: 'Start', type: 'n8n-nodes-base.executeWorkflowTrigger', typeVersion: 1, parameters: {} },
		{ name: 'Got', type: 'n8n-nodes-base.noOp', typeVersion: 1, parameters: {} },
	]);
	await activate(target, receiverId);
	const handOver = {
		wait: 'inAnotherWorkflow',
		workflowId: { __rl: true, mode: 'id', value: receiverId },
		passAlong: '={{ { "asked": $("Split").item.json.prompt } }}',
	};
	const ways: Saved[] = [];
	for (const way of WAYS) {
		const { words, survives = false, options, settings, inBackground } = way;
		const path = words.replaceAll(' ', '');
		const [generate, ...others] = buyingNodes(
			{ survives, options },
			{ onError: 'continueRegularOutput', ...settings },
		) as [TestNode, ...TestNode[]];
		if (inBackground) generate.parameters = { ...generate.parameters, ...handOver };
		const workflowId = await saveChain(target, words, [...webhookNodes(path), generate, ...others]);
		await activate(target, workflowId);
		ways.push({ ...way, workflowId, url: `${target.n8n.url}/webhook/${path}` });
	}
	return { ways, receiverId };
}

/** @param withinMs the webhook is called before */
export function drawOrder({ pick, between, isLucky }: Draw, ways: Saved[], number: number, withinMs: number): Order {
	const name = `order${number}.`;
	const way = pick(ways);
	// With one item, nothing is left to buy once it is handed over.
	const prompts = Array.from({ length: isLucky(0.3) ? 1 : ITEMS }, (_, item) => {
		const trouble = isLucky(0.35) ? ` ${pick(TROUBLES)}` : '';
		return `${name}${item + 1} [[sandbox duration=${Math.ceil(between(0, 8))}s${trouble}]]`;
	});
	const calls = way.isCalledTwice && isLucky(0.4) ? 2 : 1;
	return { ...way, name, prompts, callsAtMs: Array.from({ length: calls }, () => between(0, withinMs)) };
}
