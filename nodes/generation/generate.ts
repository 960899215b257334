import type { IDataObject, INodeProperties } from 'n8n-workflow';
import { untilAborted } from '../../core/abort';
import { gatewayError, invalidInput } from '../../core/errors';
import type { JsonObject } from '../../core/json';
import { markRequired, toModelOptions, toProperties, type ModelSpec } from '../../core/models/model';
import { pendingUploads, withReferences, type PendingUpload } from '../../core/models/images';
import { CUSTOM_MODEL } from '../../core/labels';
import type { Order, ResultOptions } from '../../core/orders/order';
import { makeOrder, promptIn } from '../../core/orders/states';
import { asText } from '../../core/text';
import { FILE_LIMITS } from './fileLimits';
import { credentialIdOf } from '../connection/transport';
import { promptField } from '../models/commonFields';
import * as fields from '../form/fields';
import { customBodyField, modelField, passAlongField, waitField } from '../form/fields';
import * as options from '../form/options';
import { purchaseKeyOption, readSubmitAgain } from '../form/options';
import { hashOf } from '../run/requestHash';
import { identifyByContent } from './binaryImage';
import type { Item } from '../run/inputItem';
import type { Operation } from '../run/operation';
import type { Run } from '../run/nodeRun';
import { hashOfKey } from '../run/runMemory';
import { isInN8nAgents } from '../run/whereItRuns';
import { assertCanBeDeferred, readWait, retriedThere } from '../run/buy';
import { deliverTask, readResultOptions } from './deliverTask';
import type { Media } from './media';
import { planRequest } from './planRequest';

/** Generate: the same for images and videos. The models decide what the form and the request look like. */
export function generate(media: Media): Operation {
	return {
		option: {
			name: 'Generate',
			value: 'generate',
			description: `Create ${media.kind}s and wait until they are ready`,
			action: `Generate ${media.kind}`,
			builderHint: {
				propertyHint:
					'Makes one task for each input item. For several prompts, pass several items and read each prompt with an expression.',
			},
		},
		properties: generateProperties(media),
		wait: waitField,
		waitsFor: 'task',
		describes: 'task',
		canReuse: true,
		canBuy: true,
		prepare: async (item, run) => await orderGeneration(item, run, media),
		promptOf: promptInForm,
		deliver: deliverTask,
	};
}

const whenCustom = { show: { model: [CUSTOM_MODEL] } };
const customModelFields = ({ otherModel }: Media): INodeProperties[] => [
	...markRequired({ ...fields.customModelIdField, required: true, placeholder: `e.g. ${otherModel}` }, whenCustom.show),
	{ ...customBodyField, displayOptions: whenCustom },
];

/** The form of Generate. Most of it comes from the models. */
function generateProperties(media: Media): INodeProperties[] {
	return [
		{ ...modelField, options: toModelOptions(media.models), default: media.models[0].id },
		...toProperties(media.models),
		...customModelFields(media),
		waitField,
		fields.workflowField,
		fields.workflowNotice,
		passAlongField,
		{ ...fields.resultField, displayOptions: { hide: { ...fields.hiddenInTools?.hide, wait: ['dontWait'] } } },
		options.optionsCollection([
			options.additionalFieldsOption,
			options.concurrentTasksOption,
			options.hiddenWithoutWait(options.fileNameByPromptOption),
			options.hiddenWithoutWait(options.outputFieldOption),
			options.hiddenWithoutWait(options.pollIntervalOption),
			purchaseKeyOption,
			options.reportCreditsOption,
			options.hiddenWithoutWait(options.resultPathOption),
			options.reuseOption,
			fields.simplifyField,
			options.hiddenWithoutWait(options.splitFilesOption),
			options.submitAgainOption,
			// Also the longest wait for a free place, and for another order with its Purchase Key.
			options.forNewTask(media.timeoutOption),
		]),
		fields.costNotice,
	];
}

/** The prompt of a form that cannot be used otherwise; undefined where it is what cannot be read. */
function promptInForm(item: Item): string | undefined {
	try {
		const isCustom = item.value(modelField) === CUSTOM_MODEL;
		return promptIn(isCustom ? item.json(customBodyField) : { prompt: asText(item.value(promptField))?.trim() });
	} catch {
		return undefined;
	}
}

/** The most data that an item can pass along, in bytes: n8n's database keeps them until the task has finished. */
export const MOST_BYTES_ALONG = 65_536;

function passAlong(item: Item): IDataObject {
	item.assertNotLost(passAlongField);
	const along = item.json(passAlongField) as IDataObject;
	const input = Object.keys(along).length > 0 ? { pass_along: along } : {};
	const bytes = new TextEncoder().encode(JSON.stringify(input)).length;
	if (bytes > MOST_BYTES_ALONG)
		throw invalidInput(
			`The data passed along is ${bytes} bytes: at most ${MOST_BYTES_ALONG} are allowed`,
			'Pass along only what you need to identify the item, such as an ID.',
		);
	return input;
}

function noteUnused({ notSent }: Run, model: string, labels: string[]): void {
	notSent.set(model, new Set([...(notSent.get(model) ?? []), ...labels]));
}

/**
 * Without rows, it would not be known whether it was bought before; without the key that an expression should have given,
 * neither.
 */
async function readPurchaseKey({ options }: Item, run: Run): Promise<{ keyHash?: string }> {
	const key = options.text(purchaseKeyOption);
	options.assertNotLost(purchaseKeyOption);
	if (key === '') return {};
	if (isInN8nAgents(run.context))
		throw invalidInput(
			'This item has a Purchase Key, but n8n Agents have no purchase log',
			'n8n runs this tool without a workflow, so the node could not know if it was bought before. Clear Purchase Key in this tool, or use the tool of an agent in a workflow.',
		);
	const why = await untilAborted(run.openJournal(), run.context.getExecutionCancelSignal());
	if (why !== undefined || run.journal?.isWithoutRows !== false)
		throw gatewayError('purchaseLogUnavailable', { why: why ?? '' });
	const account = credentialIdOf(run.context.getNode());
	return { keyHash: hashOfKey(key, { account, baseUrl: run.client.fileRules.baseUrl }) };
}

/**
 * Reads how the result is wanted. Throws where it would be more files than the node downloads, which would be found out after they
 * have been paid for.
 *
 * @param models absent where the run does not wait for the result
 */
function readResult(
	{ item, run }: { item: Item; run: Run },
	{ model, n, response_format: format }: JsonObject,
	models?: readonly ModelSpec[],
) {
	const result: ResultOptions = {
		...readResultOptions(item, run),
		urlExpected: format === undefined || format === 'url',
		...(Number(n) > 1 ? { count: Number(n) } : {}),
	};
	const max = FILE_LIMITS.files;
	if (models === undefined || result.as === 'urlOnly' || !(Number(n) > max)) return result;
	const field = models.find(({ id }) => id === model)?.fields.find(({ bodyPath }) => bodyPath === 'n');
	const label = field?.displayName ?? 'n';
	throw invalidInput(
		`${label} is ${String(n)}: when files are downloaded, it must be ${max} or less`,
		`Change ${label} to ${max} or less, in several items if you need more, or set Result to URL Only to get all URLs.`,
	);
}

interface Identifying {
	item: Item;
	run: Run;
	/** The item has a Purchase Key. */
	isKeyed: boolean;
	hash: () => string;
}

/**
 * Tells files by their content, because after a crash the nodes before run again and store them under other IDs. Files are checked,
 * unless their task exists.
 */
export async function identifyFiles(images: PendingUpload[], { item, run, isKeyed, hash }: Identifying): Promise<void> {
	if (images.length === 0) return;
	const entry = () => {
		const own = hash();
		const found = run.ledger.find(item.index, own);
		return found?.hash === own ? found : undefined;
	};
	const known = entry();
	// Under a Purchase Key the request has to be the same in every execution.
	if (known === undefined || isKeyed) for (const image of images) await identifyByContent(item, image, run.fileHash);
	if ((known ?? entry())?.taskId === undefined) for (const { file } of images) await file.check();
}

async function orderGeneration(item: Item, run: Run, { kind, models, timeoutOption }: Media): Promise<Order> {
	const planned = planRequest(item, models);
	const key = await readPurchaseKey(item, run);
	const hash = () => hashOf('task', [kind, planned.chosen]);
	await identifyFiles(pendingUploads(planned.body), { item, run, isKeyed: key.keyHash !== undefined, hash });
	noteUnused(run, String(planned.body.model), planned.unused);
	for (const hint of planned.hints) run.hints.add(hint);
	const waits = run.waiting !== 'dontWait';
	const result = readResult({ item, run }, planned.body, waits ? models : undefined);
	const wait = readWait(item, timeoutOption, run);
	if (run.handsOver) assertCanBeDeferred(run, planned.body);
	const { body, files } = withReferences(planned.body);
	const model = String(body.model);
	const order = makeOrder({
		item: item.index,
		thing: 'task',
		kind,
		model,
		scope: `the model ${model}`,
		request: {
			...{ body, hash: hash(), ...readSubmitAgain(item.options) },
			...key,
		},
		then: waits ? 'poll' : 'nothing',
		...retriedThere(run),
		wait,
		result,
		input: run.background ? passAlong(item) : undefined,
	});
	run.files.set(order, files);
	return order;
}
