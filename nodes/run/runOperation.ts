import type { IExecuteFunctions, INodeExecutionData, INodePropertyOptions } from 'n8n-workflow';
import { onAbort } from '../../core/abort';
import type { GatewayClient } from '../../core/client';
import { GatewayError } from '../../core/errors';
import { TaskLedger } from '../../core/tasks/ledger';
import { createClient } from '../connection/createClient';
import { show } from '../../core/text';
import { formError } from '../errors/formErrors';
import { plain } from '../errors/plain';
import { toNodeError } from '../errors/toNodeError';
import { FieldReader } from '../form/fieldReader';
import {
	concurrentTasksOption,
	requestsPerSecondOption,
	streamProgressOption,
	surviveRestartsOption,
} from '../form/options';
import { isTool, isToolRun } from './agentTools';
import { hintsFor, notSentHint } from './hints';
import type { Item } from './item';
import { readLedgerScope } from './ledgerScope';
import type { Choices, Durable, Operation, Resource } from './operation';
import { Progress } from './progress';
import { readIntents } from './purchaseRecord';
import { Run, type Background, type RunLimits } from './run';
import { runItems } from './runItems';
import { TaskLog } from './taskLog';
import { trace } from './tracing';

/** Runs the operation that the form says. */
export async function executeOperation(
	context: IExecuteFunctions,
	operations: Choices<Operation>,
	durable?: Durable,
): Promise<INodeExecutionData[][]> {
	const step = durable?.steps.get(String(context.getNodeParameter('operation', 0, '')));
	return [step ? await step(context) : await runOperation(context, chosen(context, 'operation', operations), durable)];
}

export async function executeResource(
	context: IExecuteFunctions,
	resources: Choices<Resource>,
): Promise<INodeExecutionData[][]> {
	return await executeOperation(context, chosen(context, 'resource', resources).operations);
}

function chosen<T extends { option: INodePropertyOptions }>(
	context: IExecuteFunctions,
	name: string,
	choices: Choices<T>,
): T {
	const value = context.getNodeParameter(name, 0, choices[0].option.value);
	const choice = choices.find(({ option }) => option.value === value);
	if (choice !== undefined) return choice;
	const label = name === 'operation' ? 'Operation' : 'Resource';
	const known = choices.map(({ option }) => option.name).join(', ');
	throw toNodeError(formError('operationUnknown', { label, value: show(value), known }), {
		node: context.getNode(),
		itemIndex: 0,
	});
}

/** Runs an operation over all items: what is the same for every operation. */
async function runOperation(
	context: IExecuteFunctions,
	operation: Operation,
	durable?: Durable,
): Promise<INodeExecutionData[]> {
	const node = context.getNode();
	const place = {
		node,
		operation: String(operation.option.value),
		isTool: isTool(node),
		subExecution: context.getMode() === 'integrated' ? context.getExecutionId() : undefined,
	};
	// When the run has ended, nothing is sent any more, whatever still waits for its turn or for another try.
	const end = new AbortController();
	const forget = onAbort(context.getExecutionCancelSignal(), () => end.abort());
	const { client, survives, background, streams, ...limits } = await prepareRun(context, end.signal, durable).catch(
		(thrown: unknown) => {
			throw thrown instanceof GatewayError ? toNodeError(thrown, { ...place, itemIndex: 0 }) : thrown;
		},
	);
	const ledger = new TaskLedger(readLedgerScope(context));
	const run = new Run(client, ledger, new TaskLog(context), readIntents(context, ledger), limits);
	run.background = background;
	if (background) run.tickets = new Map();
	else if (durable && survives && !isToolRun(context)) {
		const obstacle = await durable.obstacle(context);
		if (obstacle === undefined) run.tickets = new Map();
		else run.hints.add(obstacle);
	}
	const progress = new Progress({
		console: (line) => run.log.sayInConsole(line),
		stream: streams && !isToolRun(context) ? context : undefined,
		noun: node.type.includes('image') ? 'Image' : 'Video',
	});
	const tells = operation.waitsFor === 'task' && run.tickets === undefined;
	const telling = tells ? progress.tellUntil(end.signal) : undefined;
	const traced: Item[] = [];
	const items = await runItems(context, {
		concurrency: limits.concurrency,
		place,
		prepare: async (item) => {
			traced.push(item);
			const job = await operation.prepare(item, run);
			return tells ? progress.count(item, job) : job;
		},
		onEnd: async () => await run.intents.end(end.signal),
		onStop: () => run.log.stopped(),
		acceptedIds: () => run.ledger.ids,
		onSuccess: () => {
			if (!run.tickets?.size) run.ledger.clearRun();
		},
	}).finally(() => {
		end.abort();
		forget();
		trace(context, traced, client.requestsSent);
	});
	await telling;
	const output = durable && run.tickets?.size && items.length > 0 ? await durable.handOver(context, run, items) : items;
	run.log.publish();
	// An agent does not see hints.
	if (place.isTool) return output;
	for (const message of [
		...hintsFor(output, place.operation, background ? undefined : operation.waitsFor),
		...notSentHint(run.notSent),
		...run.hints,
	]) {
		context.addExecutionHints?.({ message: plain(message), location: 'outputPane' });
	}
	return output;
}

/** Options of the run are those of the first item; what else is wrong with that item is told as its own. */
async function prepareRun(
	context: IExecuteFunctions,
	signal: AbortSignal,
	durable?: Durable,
): Promise<RunLimits & { client: GatewayClient; survives: boolean; background?: Background; streams: boolean }> {
	const options = new FieldReader((name) => context.getNodeParameter(`options.${name}`, 0, null));
	const requestsPerSecond = options.number(requestsPerSecondOption);
	return {
		client: await createClient(context, { requestsPerSecond, signal }),
		background: await durable?.readBackground(context),
		requestsPerSecond,
		survives: options.flag(surviveRestartsOption),
		streams: options.flag(streamProgressOption) && context.isStreaming?.() === true,
		concurrency: options.number(concurrentTasksOption),
	};
}
