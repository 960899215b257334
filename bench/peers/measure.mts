/** Runs one case with one peer in n8n. */
import type { Instance } from '../../test/n8n/support/instance.mts';
import { createWorkflow } from '../../test/n8n/support/workflow.mts';
import { itemsOf, startExecution, untilFinished } from '../../tools/n8n/executions.mjs';
import { ToolError } from '../../tools/report/step.mjs';
import type { Peer, PeerName } from './peers.mts';

export interface Case {
	tasks: number;
	/** The duration of each task at the service. */
	taskSeconds: number;
	/** Tasks of one duration are of one model, as in real life: what the package learns of a model then holds. */
	model: string;
}

export interface Figure {
	wallSeconds: number;
	requests: number;
	/** Not measured, but so many times one task. */
	isComputed?: boolean;
}

export type Row = Case & { figures: Record<PeerName, Figure> };

/** By the duration of their tasks in seconds. */
const models = { 3: 'beta-v3', 12: 'beta-v3-omni', 45: 'beta-video-o1' };

/** In this order a peer that works in turn has measured one task when it comes to many. */
export const cases: Case[] = [1, 10, 50].flatMap((tasks) =>
	Object.entries(models).map(([seconds, model]) => ({ tasks, taskSeconds: Number(seconds), model })),
);

const timeoutMs = 300_000;

export async function measure(instance: Instance, peer: Peer, { tasks, taskSeconds, model }: Case): Promise<Figure> {
	const items = Array.from({ length: tasks }, (_, index) => ({
		prompt: `video ${index} [[sandbox duration=${taskSeconds}s]]`,
	}));
	const nodes = peer.nodes(model);
	const id = await createWorkflow(instance, items, nodes, {}, peer.connections);
	peer.service.reset();
	const execution = await untilFinished(instance.rest, await startExecution(instance.rest, id, 'Start'), { timeoutMs });
	const { status, error, runData, record } = execution;
	const last = nodes.at(-1)?.name ?? '';
	const videos = (runData[last] ?? [])
		.flatMap((_, run) => itemsOf(execution, last, { run }))
		.filter(({ binary }) => binary !== undefined).length;
	if (status !== 'success' || videos !== tasks) {
		throw new ToolError(`${peer.name}: ${status}, ${videos} of ${tasks} videos. ${JSON.stringify(error ?? '')}`);
	}
	return {
		wallSeconds: (Date.parse(record.stoppedAt) - Date.parse(record.startedAt)) / 1000,
		requests: peer.service.requests(),
	};
}

export function times(tasks: number, one: Figure): Figure {
	return { wallSeconds: tasks * one.wallSeconds, requests: tasks * one.requests, isComputed: true };
}
