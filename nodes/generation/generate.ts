import type { IDataObject, INodeProperties } from 'n8n-workflow';
import { untilAborted } from '../../core/abort';
import { asGatewayError, GatewayError, gatewayError, invalidInput } from '../../core/errors';
import { asArray, isPlainObject, isUnset, mergeDeep, type JsonObject } from '../../core/json';
import { CUSTOM_MODEL, CUSTOM_MODEL_LABEL, ROLE_LABELS, ROLES } from '../../core/labels';
import {
	hiddenChoices,
	toBody,
	toChosen,
	withoutUnused,
	type Chosen,
	type FormValues,
	type ImageInput,
} from '../../core/models/body';
import { imageLabel, namesMissingImage, pendingUploads, withReferences } from '../../core/models/images';
import { markRequired, toModelOptions, toProperties, type FieldSpec, type ModelSpec } from '../../core/models/model';
import type { Order, ResultOptions } from '../../core/orders/order';
import { makeOrder, promptIn } from '../../core/orders/states';
import { asText, listOf, show } from '../../core/text';
import { credentialIdOf } from '../connection/transport';
import { assertNoTemplate, toText } from '../form/fieldReader';
import * as fields from '../form/fields';
import { customBodyField, customModelIdField, modelField, passAlongField, waitField } from '../form/fields';
import * as options from '../form/options';
import { additionalFieldsOption, purchaseKeyOption, readSubmitAgain } from '../form/options';
import { assetTakers, modelsWith } from '../models';
import { optionalPromptField, promptField, roleLabel } from '../models/commonFields';
import { assertCanBeDeferred, readWait, retriedThere } from '../run/buy';
import { HINTS } from '../run/hints';
import type { Item } from '../run/inputItem';
import type { Run } from '../run/nodeRun';
import type { Operation } from '../run/operation';
import { hashOf } from '../run/requestHash';
import { hashOfKey } from '../run/runMemory';
import { isInN8nAgents } from '../run/whereItRuns';
import { identifyFiles, readBinaryImage } from './binaryImage';
import { deliverTask, readResultOptions } from './deliverTask';
import { FILE_LIMITS } from './fileLimits';
import type { Media } from './media';

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
	...markRequired({ ...customModelIdField, required: true, placeholder: `e.g. ${otherModel}` }, whenCustom.show),
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
			additionalFieldsOption,
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
		const isCustom = toText(item.value(modelField), modelField.displayName) === CUSTOM_MODEL;
		return promptIn(isCustom ? item.json(customBodyField) : { prompt: asText(item.value(promptField))?.trim() });
	} catch {
		return undefined;
	}
}

/** From the form of one item to an order. */
async function orderGeneration(item: Item, run: Run, { kind, models, timeoutOption }: Media): Promise<Order> {
	const planned = planRequest(item, models);
	const key = await readPurchaseKey(item, run);
	const hash = () => hashOf('task', [kind, planned.chosen]);
	await identifyFiles(pendingUploads(planned.body), { item, run, isKeyed: key.keyHash !== undefined, hash });
	const model = String(planned.body.model);
	for (const hint of planned.hints) run.hints.add(hint);
	const waits = run.waiting !== 'dontWait';
	const result = readResult({ item, run }, planned.body, waits ? models : undefined);
	const wait = readWait(item, timeoutOption, run);
	if (run.handsOver) assertCanBeDeferred(run, planned.body);
	const { body, files } = withReferences(planned.body);
	const order = makeOrder({
		item: item.index,
		thing: 'task',
		kind,
		model,
		scope: `the model ${model}`,
		request: { body, hash: hash(), ...readSubmitAgain(item.options), ...key },
		then: waits ? 'poll' : 'nothing',
		...retriedThere(run),
		wait,
		result,
		input: run.background ? passAlong(item) : undefined,
	});
	run.files.set(order, files);
	return order;
}

/** A request as the form describes it, checked. Images that are still to be uploaded are in it as `PendingUpload`. */
export interface PlannedRequest {
	body: JsonObject;
	/** The choices that tell it from another request. */
	chosen: Chosen | JsonObject;
	/** Hints for the output panel. */
	hints: string[];
}

/** Reads and checks the form of one item. Throws a `badInput` error; sends nothing. */
export function planRequest(item: Item, models: readonly ModelSpec[]): PlannedRequest {
	item.options.assertNotLost(additionalFieldsOption);
	const additionalFields = item.options.json(additionalFieldsOption);
	const modelId = toText(item.given(modelField), modelField.displayName);
	if (Object.hasOwn(additionalFields, 'model'))
		throw invalidInput(
			`${additionalFieldsOption.displayName} contains the field "model", which cannot be changed there`,
			`Remove it there. To use a model that is not in the list, choose ${CUSTOM_MODEL_LABEL} and enter its ID as Model ID.`,
		);
	if (modelId === CUSTOM_MODEL) {
		// Where it was chosen, the form shows nothing else.
		const unused = item.isExpression(modelField.name) ? findUnused(item, {}, models) : [];
		const body = planCustom(item, additionalFields);
		return { body, chosen: body, hints: notSentTo(String(body.model), unused) };
	}
	const model = models.find(({ id }) => id === modelId);
	if (model === undefined)
		throw invalidInput(
			`Model is ${show(modelId)}, which this node does not know`,
			`Choose one of ${models.map(({ id }) => id).join(', ')}, or ${CUSTOM_MODEL_LABEL} for any other.`,
		);

	const values = readValues(item, model);
	const hidden = hiddenChoices(model, values).map(({ displayName }) => displayName);
	const unused = [...findUnused(item, model, models), ...dropRoles(model, values)];
	const whole = explaining({ item, model, values }, () => toBody(model, values, additionalFields));
	const body = withoutUnused(model, whole, additionalFields);
	const [before = 0, count = 0] = [whole, body].map(({ image_urls: images }) => asArray(images ?? []).length);
	return {
		body,
		chosen: toChosen(model, values, additionalFields),
		hints: [
			...notSentTo(model.id, unused),
			...(count < before ? [HINTS.firstImages({ count, model: model.id })] : []),
			...(model.namesImages && namesMissingImage(body) ? [HINTS.imageNotThere()] : []),
			...hidden.map((label) => HINTS.notSentWithOthers({ label })),
		],
	};
}

function readValues(item: Item, model: ModelSpec): FormValues {
	const values: FormValues = {};
	for (const field of model.fields) {
		const value = chosen(item, field, model);
		values[field.name] = field.type === 'fixedCollection' ? readRows(item, field, value) : value;
	}
	return values;
}

/** The hint about values that a model has no field for. */
const notSentTo = (model: string, labels: string[]): string[] =>
	labels.length === 0 ? [] : [HINTS.notSent({ labels: listOf(labels, 'and'), count: labels.length, model })];

/** The value of a field. While the model is an expression, an empty text is n8n's default: see `toProperties`. */
function chosen(item: Item, field: FieldSpec, { fields }: ModelSpec): unknown {
	const { name, type } = field;
	// Some models need no prompt with an image, and none needs images, or the fields that another one shows: they would make
	// something that the user did not ask for.
	const showsOthers = fields.some(({ displayOptions }) => displayOptions?.show?.[name] !== undefined);
	if (name === optionalPromptField.name || type === 'fixedCollection' || showsOthers) item.assertNotLost(field);
	const value = item.value(field);
	return value === '' && item.isExpression(modelField.name) ? undefined : value;
}

interface Form {
	item: Item;
	model: ModelSpec;
	values: FormValues;
}

/** Adds to errors what the model does not know: which of its fields hold expressions, and what other models take. */
function explaining<T>(form: Form, make: () => T): T {
	const explain = (error: GatewayError): GatewayError => {
		const { kind, message, details } = explainOne(error, form) ?? error;
		return new GatewayError(kind, message, { ...details, others: (error.details.others ?? []).map(explain) });
	};
	try {
		return make();
	} catch (thrown) {
		throw explain(asGatewayError(thrown));
	}
}

function explainOne({ details: { reason } }: GatewayError, { item, model, values }: Form): GatewayError | undefined {
	if (reason?.name === 'assetNotAccepted') {
		const takers = listOf([...assetTakers(), CUSTOM_MODEL_LABEL], 'and');
		return gatewayError(reason.name, { ...reason.data, takers });
	}
	if (reason?.name === 'fieldNotForModel')
		return gatewayError(reason.name, { ...reason.data, takers: listOf(modelsWith(reason.data.path), 'and') });
	if (reason?.name !== 'fieldEmpty') return undefined;
	const { label } = reason.data;
	// A field that holds an expression does not look empty. With a value, Additional Fields have emptied it.
	const isEmptyExpression = model.fields
		.filter(({ displayName }) => displayName === label)
		.some(({ name }) => item.isExpression(name) && isBlank(values[name]));
	return isEmptyExpression ? gatewayError('expressionGaveNothing', { label }) : undefined;
}

const isBlank = (value: unknown) => String(value ?? '').trim() === '';

const ENTER_PROMPT = 'Enter the prompt and whatever else the model needs.';

/** The body of a model that the node does not know: nothing in it is checked. */
function planCustom(item: Item, additionalFields: JsonObject): JsonObject {
	const id = item.requiredText(customModelIdField);
	item.given(customBodyField);
	const entered = item.json(customBodyField);
	if (!isUnset(entered.model) && entered.model !== id)
		throw invalidInput(
			`${customBodyField.displayName} has the model ${show(entered.model)}, but ${customModelIdField.displayName} is ${show(id)}`,
			`Enter the model that you want as ${customModelIdField.displayName}, and remove it from ${customBodyField.displayName}.`,
		);
	const body = mergeDeep(entered, additionalFields);
	if (Object.keys(body).length === 0) throw item.nothingIn(customBodyField, ENTER_PROMPT);
	if (JSON.stringify(body) === JSON.stringify(JSON.parse(String(customBodyField.default)))) {
		throw invalidInput(
			`${customBodyField.displayName} is unchanged: it has an empty prompt and nothing else`,
			ENTER_PROMPT,
		);
	}
	return { ...body, model: id };
}

/**
 * Removes roles of images that the model does not have: the form shows them while the model is an expression. A role
 * that the position of the image implies anyway is left out; any other one is an error.
 */
function dropRoles(model: ModelSpec, values: FormValues): string[] {
	const dropped: string[] = [];
	for (const field of model.fields) {
		const { name, shape } = field;
		if (shape !== 'images') continue;
		const images = values[name] as ImageInput[];
		for (const [index, { role }] of images.entries()) {
			if (role === undefined) continue;
			if (role !== ROLES[index])
				throw invalidInput(
					`${imageLabel(field, index)} has the role ${ROLE_LABELS[role] ?? role}, but ${model.id} has no roles`,
					'Set Role to By Position and put the images in their order, or choose a model with roles.',
				);
			dropped.push(roleLabel);
		}
		values[name] = images.map(({ reference }) => ({ reference }));
	}
	return [...new Set(dropped)];
}

function readRows(item: Item, field: FieldSpec, raw: unknown): ImageInput[] | string[] {
	assertRowsGiven(item, field, raw);
	const rows = toRows(field, raw);
	const stored = storedRows(item, field);
	if (field.shape === 'urls') {
		for (const [index, row] of stored.entries()) assertNoTemplate(row.url, `${field.displayName}: URL ${index + 1}`);
		return rows.flatMap((row) => toTexts(row.url));
	}
	const images: ImageInput[] = [];
	for (const [index, row] of rows.entries()) {
		const role = toText(row.role, `${field.displayName}: ${roleLabel}`) || undefined;
		const isFile = row.source === 'binary';
		const { url, binaryPropertyName } = stored[index] ?? {};
		assertNoTemplate(isFile ? binaryPropertyName : url, imageLabel(field, images.length));
		for (const given of isFile ? toFiles(row) : toTexts(row.url)) {
			const reference = isFile ? readBinaryImage(item, given, images.length + 1) : String(given);
			images.push({ reference, role });
		}
	}
	return images;
}

/** The fields of a row: an object without any of them is no row. */
const ROW_FIELDS = ['source', 'url', 'binaryPropertyName'];

const rowName = ({ options }: FieldSpec) => options?.find((option) => 'values' in option)?.name ?? '';

/**
 * The rows of a list. The form makes `{ image: [row, …] }`; JSON and expressions can give a row, a URL, or a list of them
 * in its place. Throws where it is anything else: without it, the request would be another one.
 */
function toRows(field: FieldSpec, given: unknown): JsonObject[] {
	const name = rowName(field);
	const isForm = isPlainObject(given) && (Object.hasOwn(given, name) || Object.keys(given).length === 0);
	const list = isForm ? given[name] : given;
	return asArray(list ?? []).map((row) => {
		if (typeof row === 'string') return { url: row };
		if (isPlainObject(row) && ROW_FIELDS.some((each) => Object.hasOwn(row, each))) return row;
		const value = show(isForm ? list : given);
		throw invalidInput(
			`${field.displayName} is ${value}, which is not a list that this field takes`,
			`Add the entries in the form, or let the expression return a URL, a list of URLs, or {"${name}": [{"url": "https://…"}]}.`,
		);
	});
}

/** Throws where an expression in the place of all rows gave nothing, as `assertNotLost` does for the whole field. */
function assertRowsGiven({ node }: Item, field: FieldSpec, given: unknown): void {
	const stored: unknown = node.parameters[field.name];
	const name = rowName(field);
	if (!isPlainObject(stored) || !isPlainObject(given) || typeof stored[name] !== 'string') return;
	if (given[name] === undefined) throw gatewayError('expressionGaveNothing', { label: field.displayName });
}

/** The same rows as they are stored, with their expressions. */
function storedRows({ node }: Item, field: FieldSpec): JsonObject[] {
	const stored = node.parameters[field.name];
	return typeof stored === 'string' && stored.startsWith('=') ? [] : toRows(field, stored);
}

/** Names separated by commas, or what an expression gives instead: a file, or a list of names and files. */
function toFiles(row: JsonObject): unknown[] {
	const given = 'binaryPropertyName' in row ? row.binaryPropertyName : 'data';
	return atLeastOne(given).flatMap((one) => (typeof one === 'string' ? one.split(',') : [one]));
}

/** A text, or a list of them from an expression. */
function toTexts(value: unknown): string[] {
	return atLeastOne(value).map((entry) => (typeof entry === 'string' ? entry.trim() : JSON.stringify(entry)));
}

/** The entries of a list, or the value as the only entry; nothing becomes an empty text. */
function atLeastOne(value: unknown): unknown[] {
	return Array.isArray(value) && value.length > 0 ? value : [Array.isArray(value) ? '' : (value ?? '')];
}

/**
 * Values of other models that are still in the node: left over from before a change of the model, or visible
 * because the model is an expression. They are never sent; a hint tells the user.
 */
function findUnused(
	{ node }: Item,
	{ fields }: Partial<Pick<ModelSpec, 'fields'>>,
	models: readonly ModelSpec[],
): string[] {
	const stored = node.parameters;
	const all = models.flatMap((model) => model.fields);
	const isUsed = ({ name }: FieldSpec) => fields?.some((field) => field.name === name);
	const isDefault = ({ name }: FieldSpec) =>
		all.some((field) => field.name === name && JSON.stringify(stored[name]) === JSON.stringify(field.default));
	const leftOver = all.filter(
		(field) => !isUsed(field) && field.name in stored && stored[field.name] !== '' && !isDefault(field),
	);
	return [...new Set(leftOver.map(({ displayName }) => displayName))];
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

/** Throws without rows, or where an expression gave no key: it would not be known whether it was bought before. */
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
