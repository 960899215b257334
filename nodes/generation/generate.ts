import { createHash } from 'crypto';
import type { IExecuteFunctions, INodeExecutionData, INodeProperties } from 'n8n-workflow';
import type { GatewayClient, MediaKind } from '../../core/client';
import { stillUnknown } from '../../core/http/connectionErrors';
import { asGatewayError } from '../../core/errors';
import type { Body } from '../../core/json';
import type { TaskRecord } from '../../core/records/taskRecord';
import { markRequired } from '../../core/models/markRequired';
import { CUSTOM_MODEL, type ModelSpec } from '../../core/models/spec';
import { toModelOptions, toProperties } from '../../core/models/toProperties';
import { TaskLedger } from '../../core/tasks/ledger';
import type { JobControls } from '../../core/tasks/runTasks';
import { readImageField } from './binary';
import { downloadResultField, modelField, simplifyField, waitForCompletionField } from './fields';
import { finishTask, readFinishOptions } from './finishTask';
import { addHints } from '../run/hints';
import { readLedgerScope } from '../run/ledgerScope';
import type { Operation } from '../run/operation';
import * as options from '../form/options';
import { prepareRun } from '../run/run';
import { readRequest, type PlannedRequest } from './planRequest';
import { readBoolean } from '../form/readParameters';
import { runItems, type ItemJob } from '../run/runItems';
import { TaskLog } from '../run/taskLog';
import { toTaskOutput } from './taskOutput';

export interface MediaDescription {
	kind: MediaKind;
	models: readonly ModelSpec[];
	timeoutOption: INodeProperties;
}

/** Generate: the same for images and videos. The models decide what the form and the request look like. */
export function createGenerateOperation(media: MediaDescription): Operation {
	return {
		option: {
			name: 'Generate',
			value: 'generate',
			description: `Create ${media.kind}s and wait until they are ready`,
			action: media.kind === 'image' ? 'Generate an image' : 'Generate a video',
		},
		properties: [
			{ ...modelField, options: toModelOptions(media.models), default: media.models[0].id },
			...toProperties(media.models),
			...customModelFields,
			waitForCompletionField,
			{ ...downloadResultField, displayOptions: { show: { waitForCompletion: [true] } } },
			simplifyField,
			options.optionsCollection([
				options.additionalFieldsOption,
				options.concurrentTasksOption,
				options.includeInputOption,
				options.onTimeoutOption,
				options.outputFieldOption,
				options.pollIntervalOption,
				options.requestsPerSecondOption,
				options.submitAgainOption,
				media.timeoutOption,
			]),
		],
		execute: async (context) => await generate(context, media),
	};
}

const customModelFields: INodeProperties[] = [
	...markRequired({
		displayName: 'Model ID',
		name: 'customModelId',
		type: 'string',
		default: '',
		placeholder: 'e.g. alpha-video-2-0',
		description: 'The identifier of the model',
		displayOptions: { show: { model: [CUSTOM_MODEL] } },
	}),
	{
		displayName: 'Body (JSON)',
		name: 'customBody',
		type: 'json',
		default: '{\n  "prompt": ""\n}',
		description: 'The request body without the model. Images are given as URLs or asset references such as asset://pa_123.',
		displayOptions: { show: { model: [CUSTOM_MODEL] } },
	},
];

async function generate(context: IExecuteFunctions, media: MediaDescription): Promise<INodeExecutionData[]> {
	const { client, concurrency } = await prepareRun(context);
	const ledger = new TaskLedger(readLedgerScope(context));
	const log = new TaskLog(context);
	const unused = new Set<string>();

	const output = await runItems(context, {
		concurrency,
		prepare: (itemIndex) => {
			const request = readRequest(context, itemIndex, media.models);
			request.unused.forEach((label) => unused.add(label));
			return generateItem({ context, client, ledger, log, kind: media.kind, itemIndex, request, timeoutMinutes: Number(media.timeoutOption.default) });
		},
		onStop: () => log.stopped(),
		onSuccess: () => ledger.clearRun(),
	});
	log.publish();
	addHints(context, output, 'task');
	if (unused.size > 0) {
		context.addExecutionHints?.({
			message: `Not sent, because the chosen model does not have them: ${[...unused].join(', ')}.`,
			location: 'outputPane',
		});
	}
	return output;
}

interface GenerateItem {
	context: IExecuteFunctions;
	client: GatewayClient;
	ledger: TaskLedger;
	log: TaskLog;
	kind: MediaKind;
	itemIndex: number;
	request: PlannedRequest;
	timeoutMinutes: number;
}

/** What is known of a task that an earlier try has created and nobody waits for (contract 3.1). */
const NEW_TASK: TaskRecord = { state: 'queued', status: 'queued', progress: 0, urls: [], refusal: {}, raw: {} };

/** One purchase: continued where the ledger knows it, made where it does not. */
function generateItem(item: GenerateItem): ItemJob {
	const { context, client, ledger, log, kind, itemIndex, request } = item;
	const { identity, body } = request;
	const hash = createHash('sha256').update(`${kind} ${identity}`).digest('base64').slice(0, 22);
	const model = String(body.model);
	const submitAgain = readBoolean(context, itemIndex, options.submitAgainOption, 'options.submitAgain');
	const wait = readBoolean(context, itemIndex, waitForCompletionField);
	const finish = {
		...readFinishOptions(context, itemIndex, item.timeoutMinutes),
		urlExpected: body.response_format === undefined || body.response_format === 'url',
	};
	const job: ItemJob = { run };
	return job;

	async function run(controls: JobControls): Promise<Pick<INodeExecutionData, 'json' | 'binary'>> {
		const known = ledger.find(itemIndex, hash);
		if (known && known.taskId === undefined && !submitAgain) throw stillUnknown('task');
		const accepted =
			known?.taskId === undefined
				? undefined
				: { taskId: known.taskId, atMs: known.acceptedAtMs, record: { ...NEW_TASK, id: known.taskId } };
		if (accepted) {
			job.task = { taskId: accepted.taskId, status: 'in_progress', elapsedMs: 0 };
			log.continued(accepted.taskId);
		}
		const { taskId, atMs, record } = accepted ?? (await submit(controls));
		const task = (job.task ??= { taskId, status: 'queued', progress: 0, elapsedMs: 0 });
		if (!wait) return { json: toTaskOutput(record, { taskId, model, simplify: finish.simplify }) };
		try {
			// In a retry the timeout begins anew.
			const startedAtMs = accepted ? Date.now() : atMs;
			const known = { kind, task, model, startedAtMs, acceptedAtMs: atMs };
			const result = await finishTask(context, client, known, finish, controls.signal);
			if (result.json.timed_out !== true) log.finished(taskId);
			return result;
		} catch (thrown) {
			const error = asGatewayError(thrown);
			if (error.kind === 'taskFailed') {
				log.finished(taskId);
				// What has ended for good may be bought anew, unless it would only end the same way again.
				if (!error.details.permanent) ledger.forget(itemIndex);
			}
			if (error.kind === 'notFound' && submitAgain) ledger.forget(itemIndex);
			throw error;
		}
	}

	async function submit({ submitting, assertMaySubmit }: JobControls) {
		const finalBody = await uploadImages(item, assertMaySubmit);
		return await submitting(async (noRepeat) => {
			try {
				const record = await client.createTask(kind, finalBody, noRepeat);
				const { id } = record;
				const atMs = Date.now();
				// Here, not behind the wait: an answer that arrives after a stop must be written down, too.
				ledger.accepted(itemIndex, hash, id, atMs);
				job.task = { taskId: id, status: 'queued', progress: 0, elapsedMs: 0 };
				log.accepted(id, model, itemIndex);
				return { taskId: id, atMs, record };
			} catch (thrown) {
				const error = asGatewayError(thrown);
				if (error.kind === 'outcomeUnknown') ledger.outcomeUnknown(itemIndex, hash, Date.now());
				throw error;
			}
		});
	}
}

/** Uploads the binary fields of one item and puts their URLs where the markers stand. */
async function uploadImages(
	{ context, client, itemIndex, request }: GenerateItem,
	assertMaySubmit: () => void,
): Promise<Body> {
	let json = JSON.stringify(request.body);
	for (const [marker, fieldName] of request.uploads) {
		assertMaySubmit();
		const url = await client.uploadImage(await readImageField(context, itemIndex, fieldName));
		json = json.replaceAll(JSON.stringify(marker), () => JSON.stringify(url));
	}
	return JSON.parse(json) as Body;
}
