import type { IDataObject } from 'n8n-workflow';
import { asGatewayError, gatewayError } from '../../core/errors';
import { pendingUploads, withUploads, type PendingUpload } from '../../core/models/images';
import { urlsOfRequest } from '../../core/records/locateResult';
import { NEW_TASK } from '../../core/records/taskRecord';
import { passAlongField, whenDoneField } from '../form/fields';
import { formError } from '../errors/formErrors';
import { submitAgainOption } from '../form/options';
import type { Item, Job } from '../run/item';
import { assertAllFit, assertLeavable, inputToPassOn, leaveTask } from '../run/leave';
import type { Operation } from '../run/operation';
import { purchase } from '../run/purchase';
import type { Run } from '../run/run';
import { readWaitOptions } from '../run/waitOptions';
import { describeTask, readDelivery, waitAndDeliver } from './deliver';
import { generateProperties } from './generateForm';
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
		waitsFor: 'task',
		prepare: async (item, run) => await prepareGeneration(item, run, media),
	};
}

/** n8n's database holds it until the task has finished. */
const MOST_BYTES_ALONG = 65_536;

function passAlong(item: Item): IDataObject {
	const along = item.json(passAlongField) as IDataObject;
	const input = { ...inputToPassOn(item), ...(Object.keys(along).length > 0 ? { pass_along: along } : {}) };
	const bytes = new TextEncoder().encode(JSON.stringify(input)).length;
	if (bytes > MOST_BYTES_ALONG) throw formError('tooMuchAlong', { bytes, max: MOST_BYTES_ALONG });
	return input;
}

async function prepareGeneration(item: Item, run: Run, { kind, models, timeoutOption }: Media): Promise<Job> {
	const { client, ledger, log } = run;
	const { body, unused, hints } = planRequest(item, models);
	for (const image of pendingUploads(body)) await image.check();
	for (const label of unused) run.notSent.add(label);
	for (const hint of hints) run.hints.add(hint);
	const model = String(body.model);
	item.model = model;
	item.scope = `the model ${model}`;
	const submitAgain = item.options.flag(submitAgainOption);
	const waits = run.background !== undefined || item.choice(whenDoneField) !== 'return';
	const wait = readWaitOptions(item.options, timeoutOption, waits && run.tickets !== undefined);
	const input = run.background ? passAlong(item) : inputToPassOn(item);
	if (waits && run.tickets) assertAllFit(item, run);
	const urlExpected = body.response_format === undefined || body.response_format === 'url';
	const wanted = { ...readDelivery(item, kind, run), model, urlExpected };
	if (waits && run.tickets) assertLeavable(run, { ...wanted, sent: urlsOfRequest(body) }, { ...wait, input });

	return async (controls) => {
		let finalBody = body;
		const { id, acceptedAtMs, uploads, answer } = await purchase(run, item, controls, {
			thing: 'task',
			request: [kind, body],
			submitAgain,
			status: 'queued',
			remark: model,
			upload: async (uploading) => {
				const urls = new Map<PendingUpload, string>();
				for (const image of pendingUploads(body))
					urls.set(image, await uploading(async () => await client.uploadImage(await image.read())));
				finalBody = withUploads(body, urls);
				return [...urls.values()];
			},
			create: async (noRepeat) => await client.createTask(kind, finalBody, noRepeat),
		});
		const delivery = { ...wanted, sent: urlsOfRequest([finalBody, uploads]) };
		if (!waits) return { json: describeTask(answer ?? NEW_TASK, id, { ...delivery, resultNeeded: false }) };
		// In a retry the timeout begins anew.
		const startedAtMs = answer ? acceptedAtMs : Date.now();
		if (run.tickets) {
			const { json } = leaveTask(run, item, delivery, { ...wait, taskId: id, startedAtMs, acceptedAtMs, input });
			return { json: { ...json, status: (answer ?? NEW_TASK).state } };
		}
		try {
			const output = await waitAndDeliver(client, item.task ?? item.concerns(id), delivery, controls, {
				...wait,
				startedAtMs,
				acceptedAtMs,
			});
			if (output.json.timed_out !== true) log.finished(id);
			return output;
		} catch (thrown) {
			const error = asGatewayError(thrown);
			const hasEnded = error.kind === 'taskFailed';
			if (hasEnded) log.finished(id);
			// What has ended for good may be bought anew, unless it would only end the same way again.
			if ((hasEnded && !error.details.permanent) || (error.kind === 'notFound' && submitAgain))
				ledger.forget(item.index);
			// It was accepted, so it is not the ID that is wrong.
			throw error.kind === 'notFound'
				? gatewayError('createdTaskNotFound', { id, mediaKind: kind }, error.details)
				: error;
		}
	};
}
