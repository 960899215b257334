import type { IDataObject } from 'n8n-workflow';
import type { MediaKind } from '../../core/client';
import { gatewayError, GatewayError, type GatewayErrorDetails, type TaskReference } from '../../core/errors';
import { refusesAccess } from '../../core/errors/kinds';
import type { Order, ResultOptions } from '../../core/orders/order';
import type { Output, OutputTools, Product } from '../../core/orders/product';
import { NEW_TASK, stateOf, type TaskRecord } from '../../core/records/taskRecord';
import { generationTasks } from '../../core/orders/generationTasks';
import { promptOf } from '../../core/orders/states';
import { isPlaylist, typeByName } from '../../core/mediaTypes';
import { usualMs } from '../../core/polling/timeLeft';
import { roughDuration } from '../../core/text';
import { isAtOrigin } from '../../core/urls';
import { resultField } from '../form/fields';
import { fileNameOption, outputFieldOption, resultPathOption, splitFilesOption } from '../form/options';
import { isTool } from '../run/agentTools';
import { withoutEmpty } from '../run/output';
import { HINTS } from '../run/hints';
import type { Item } from '../run/item';
import type { Run } from '../run/run';
import { linksTo } from './downloadLinks';
import { downloadResults } from './downloads';
import { cleanFileName, nameByPrompt } from './fileNames';
import { takeDeliveryTurn } from './slowDeliveries';
import { toTaskOutput, type Delivery } from './taskOutput';

/** The form of one item, as far as it is about the result. */
export function readResultOptions(item: Item, { alone }: Pick<Run, 'alone'>): ResultOptions {
	const simplify = item.options.simplifies;
	item.options.assertGiven(splitFilesOption);
	return {
		// An agent can do nothing with a file, and has no such field. n8n deletes the files of a node that it runs alone.
		as: isTool(item.node) || alone !== undefined ? 'urlOnly' : item.givenChoice(resultField),
		outputField: item.options.text(outputFieldOption) || String(outputFieldOption.default),
		fileName: item.options.has(fileNameOption) ? cleanFileName(item.options.text(fileNameOption)) : undefined,
		simplify,
		split: item.options.flag(splitFilesOption) && !isTool(item.node),
		resultPath: item.options.text(resultPathOption),
		urlExpected: true,
		resultNeeded: simplify,
		requestUrls: [],
	};
}

/** Generation tasks (contract 4.4, 4.5, 4.8): their results are URLs, and files if they are wanted. */
export function taskProduct({
	client,
	context,
}: Pick<Run, 'client' | 'context'>): Product<TaskRecord & { id: string }, TaskRecord> {
	return {
		...generationTasks(client),
		output: async (order, { answer, record, waitedMs }, tools) => {
			const task = requireTask(order);
			const shown = record ?? answer ?? unseen(task);
			order.model ??= shown.model;
			const { baseUrl } = client.fileRules;
			const delivery = { order, record: shown, task, result: requireResult(order), waitedMs, baseUrl };
			assertNotExpired(order, task, shown);
			const { json, binary } =
				order.then === 'nothing'
					? { json: toTaskOutput(delivery, tools.hints).json }
					: await deliver({ client, context }, delivery, tools);
			const isRunning = shown.state === 'queued' || shown.state === 'in_progress';
			const usual = () => usualMs(client.survivalTable(order.kind as MediaKind, order.model));
			const forAgent =
				isRunning && isTool(context.getNode()) ? { message: wordsForAgent(record ?? answer, usual()) } : {};
			return { json: withoutEmpty({ ...json, ...forAgent } as IDataObject), binary };
		},
		explain: (order, error) => {
			const { acceptedAtMs, kind, reused, task } = order;
			if (task === undefined) return error;
			const { taskId: id } = task;
			const isGone =
				error.kind === 'notFound' || (error.kind === 'download' && GONE.has(error.details.httpStatus ?? 0));
			const isOld = Date.now() - (acceptedAtMs ?? Infinity) > KEPT_MS;
			const isSurelyGone = isOld || (error.kind === 'notFound' && order.purchase?.boughtIn !== undefined);
			if (reused && isGone && isSurelyGone) return goneOf(order, id, error.details);
			// It was accepted, so it is not the ID that is wrong, and nothing has to be bought again.
			if (acceptedAtMs === undefined) return error;
			const why = error.message.replace(` (task ${id})`, '');
			const isElsewhere = order.service !== undefined && order.service !== client.service;
			if (isElsewhere && saysNothing(error))
				return gatewayError('createdTaskElsewhere', { id, why }, withoutPermanence(error));
			if (error.kind === 'notFound') {
				const age = roughDuration(Date.now() - acceptedAtMs);
				const wasFound = order.wait?.polls?.some(({ failed }) => failed !== true);
				const data = { id, age, mediaKind: kind as MediaKind, ...(wasFound && { wasFound }) };
				return gatewayError('createdTaskNotFound', data, error.details);
			}
			if (isAnswerToPoll(error)) return gatewayError('createdTaskNotShown', { id, why }, withoutPermanence(error));
			if (!refusesAccess(error)) return error;
			const { message, details } = gatewayError('createdTaskRefused', { id, why }, error.details);
			// What follows for the other items stays the same.
			return new GatewayError(error.kind, message, details);
		},
	};
}

/** True for an answer of the service that is no status, after which a wait does not go on. */
const isAnswerToPoll = ({ kind, details }: GatewayError) => details.httpStatus !== undefined && NO_STATUS.has(kind);

/** True for an answer that says nothing about a task, if the task is another service's. */
const saysNothing = (error: GatewayError) => error.kind === 'notFound' || isAnswerToPoll(error) || refusesAccess(error);

const NO_STATUS = new Set<GatewayError['kind']>(['rejected', 'contentPolicy', 'unexpectedAnswer', 'unavailable']);

/** The refusal was one of the question, not of the request that has bought the task. */
const withoutPermanence = ({ details }: GatewayError) => ({ ...details, permanent: undefined });

/** The words about a task that goes on, for an agent: otherwise it would wait for nothing, or call the tool again and pay again. */
function wordsForAgent(seen: TaskRecord | undefined, usualTimeMs: number | undefined): string {
	const how = seen === undefined ? 'It is not known whether the task has finished' : 'The task is running';
	const usual = usualTimeMs && ` Such a task usually takes about ${Math.ceil(usualTimeMs / 1000)} seconds.`;
	return `${how}.${usual ?? ''} Its result is not part of this answer: call a tool for Get Result with this task ID. If you have none, tell the user the ID. Calling Generate again creates a new task, and you pay again.`;
}

/**
 * Results are kept for longer than that. Those that are not there earlier have another reason, such as a file host that
 * is not so far: to pay again would not help.
 */
const KEPT_MS = 6 * 60 * 60 * 1000;

/** Answers of file hosts that do not have a file any more. */
const GONE = new Set([403, 404, 410]);

/** A task of which no poll has got an answer: only its order knows how it is. */
const unseen = ({ status = NEW_TASK.status, progress }: TaskReference): TaskRecord => {
	const state = stateOf(status) === 'queued' ? 'queued' : 'in_progress';
	return { ...NEW_TASK, state, status, progress };
};

/** Throws where a task was bought before, and its result is gone. */
function assertNotExpired(order: Order, task: TaskReference, { state, expiresAt = Infinity }: TaskRecord): void {
	if (order.reused && state === 'completed' && expiresAt * 1000 < Date.now())
		throw goneOf(order, task.taskId, { task });
}

/** The error of a task whose result is gone: how to buy it again depends on how the order has come by it. */
function goneOf({ purchase }: Order, id: string, details: GatewayErrorDetails): GatewayError {
	const isOfNode = purchase?.boughtIn !== undefined;
	return gatewayError(isOfNode ? 'reusedTaskExpired' : 'purchaseKeyExpired', { id }, details);
}

/** The item of a task, with its files. Throws where a completed one has no result, but needs one. */
async function deliver(
	{ client, context }: Pick<Run, 'client' | 'context'>,
	delivery: Delivery,
	{ controls, hints }: OutputTools,
): Promise<Output> {
	const { order, task, record, result, waitedMs } = delivery;
	const prompt = promptOf(order);
	const { urls, json } = toTaskOutput(delivery, hints);
	Object.assign(task, { status: record.state, urls });
	// What is announced before the end may not be there yet, or never.
	if (urls.length === 0 || record.state !== 'completed') return { json };
	if (result.as === 'urlOnly') {
		if (urls.some((url) => isPlaylist(typeByName(new URL(url).pathname) ?? ''))) hints.add(HINTS.playlist());
		if (urls.some((url) => isAtOrigin(url, client.fileRules.baseUrl))) hints.add(HINTS.urlsWantKey());
		return { json };
	}
	// Many may wait for their files at the same time: the item has what it needs of the record.
	record.raw = {};
	const files = {
		urls,
		task: { ...task, elapsedMs: waitedMs ?? 0 },
		fieldName: result.outputField,
		fileName: result.fileName ?? (prompt === undefined ? '' : nameByPrompt(prompt, task.taskId)),
		rules: client.fileRules,
		signal: controls.signal,
		hints,
	};
	const download = async () => await downloadResults(context, files);
	const binary = await takeDeliveryTurn(controls, download);
	const links = result.as === 'fileAndLink' ? linksTo(context, binary, hints) : {};
	return { json: { ...json, ...links }, binary };
}

function requireTask({ task }: Order): TaskReference {
	if (task === undefined) throw gatewayError('packageBug', { words: 'a task without an ID was delivered' });
	return task;
}

function requireResult({ result }: Order): ResultOptions {
	if (result === undefined) throw gatewayError('packageBug', { words: 'nobody says how the result is wanted' });
	return result;
}
