import type { IDataObject } from 'n8n-workflow';
import type { MediaKind } from '../../core/client';
import { gatewayError, type TaskReference } from '../../core/errors';
import type { OutputTools, Ports } from '../../core/engine/advance';
import type { Order, Output, ResultOptions } from '../../core/orders/order';
import { promptOf } from '../../core/orders/states';
import { assertNotExpired } from '../../core/orders/taskErrors';
import { NEW_TASK, stateOf, type TaskRecord } from '../../core/records/taskRecord';
import { isPlaylist, typeByName } from '../../core/mediaTypes';
import { usualMs } from '../../core/polling/belief';
import { isAtOrigin } from '../../core/urls';
import { resultField } from '../form/fields';
import { fileNameOption, outputFieldOption, resultPathOption, splitFilesOption } from '../form/options';
import { isTool } from '../run/whereItRuns';
import { withoutEmpty } from '../run/output';
import { HINTS } from '../run/hints';
import type { Item } from '../run/inputItem';
import type { Run } from '../run/nodeRun';
import { linksTo } from './downloadLinks';
import { downloadResults } from './downloads';
import { cleanFileName, nameByPrompt } from './fileNames';
import { takeDeliveryTurn } from './slowDeliveries';
import { toTaskOutput, type Delivery } from './taskOutput';

/** The form of one item, as far as it is about the result. */
export function readResultOptions(item: Item, { alone }: Pick<Run, 'alone'>): ResultOptions {
	const simplify = item.options.simplifies;
	item.options.given(splitFilesOption);
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

/** Makes the output of a task that was read, with its files if they are wanted. Throws where it is no success. */
export function deliverTask({ client, context }: Pick<Run, 'client' | 'context'>): Ports['deliver'] {
	return async (order, { answer, record, waitedMs }, tools) => {
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
	};
}

/** The words about a task that goes on, for an agent: otherwise it would wait for nothing, or call the tool again and pay again. */
function wordsForAgent(seen: TaskRecord | undefined, usualTimeMs: number | undefined): string {
	const how = seen === undefined ? 'It is not known whether the task has finished' : 'The task is running';
	const usual = usualTimeMs && ` Such a task usually takes about ${Math.ceil(usualTimeMs / 1000)} seconds.`;
	return `${how}.${usual ?? ''} Its result is not part of this answer: call a tool for Get Result with this task ID. If you have none, tell the user the ID. Calling Generate again creates a new task, and you pay again.`;
}

/** A task of which no poll has got an answer: only its order knows how it is. */
const unseen = ({ status = NEW_TASK.status, progress }: TaskReference): TaskRecord => {
	const state = stateOf(status) === 'queued' ? 'queued' : 'in_progress';
	return { ...NEW_TASK, state, status, progress };
};

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
	if (result === undefined)
		throw gatewayError('packageBug', { words: 'the order does not say how the result is wanted' });
	return result;
}
