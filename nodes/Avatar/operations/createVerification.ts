import type { IDataObject, IExecuteFunctions, INodeProperties } from 'n8n-workflow';
import { toCallbackUrl } from '../../../core/avatars/callback';
import { rememberVerification } from '../../../core/avatars/memory';
import type { VerificationSession } from '../../../core/avatars/records';
import { GatewayError, namingTask } from '../../../core/errors';
import { isPublicUrl } from '../../../core/models/images';
import { show } from '../../../core/models/issues';
import { mergeDeep, type Body } from '../../../core/json';
import { parseJsonField } from '../../../core/models/toBody';
import { TaskLedger } from '../../../core/tasks/ledger';
import { createOnce } from '../../run/purchase';
import { prepareRun } from '../../run/run';
import { readLedgerScope } from '../../run/ledgerScope';
import type { Operation } from '../../run/operation';
import { additionalFieldsOption, includeInputOption, optionsCollection, requestsPerSecondOption } from '../../form/options';
import { readBoolean, readText } from '../../form/readParameters';
import { runItems, type ItemJob } from '../../run/runItems';
import { TaskLog } from '../../run/taskLog';
import { readFieldName, readItemOptions, readSubmitAgain, submitAgainOption } from '../fields';
import { toVerificationOutput } from '../verificationOutput';

/** Life of the link (contract 3.3): an older session is of no use to anybody. */
const LINK_LIFETIME_MS = 120_000;

const sessionNotice: INodeProperties = {
	displayName: 'The status completed only means that the session exists. Whether the person has passed, the operation Get Result tells. The link is valid for 120 seconds.',
	name: 'sessionNotice',
	type: 'notice',
	default: '',
};

const callbackUrlField: INodeProperties = {
	displayName: 'Callback URL',
	name: 'callbackUrl',
	type: 'string',
	default: '',
	placeholder: 'e.g. {{ $execution.resumeUrl }}',
	description: 'Where the browser of the person goes afterwards: {{ $execution.resumeUrl }} when a Wait node (On Webhook Call) follows, or the production URL of a Gateway Avatar Verification Trigger',
};

const referenceField: INodeProperties = {
	displayName: 'Reference',
	name: 'reference',
	type: 'string',
	default: '',
	placeholder: 'e.g. customer-42',
	description: 'Your own name for the person. It travels in the callback URL and comes out of the trigger.',
};

const readLinkField: INodeProperties = {
	displayName: 'Get Link',
	name: 'readLink',
	type: 'boolean',
	default: true,
	description: 'Whether to get the link and the vendor token at once, so that none of the 120 seconds is lost',
};

const callbackFieldOption: INodeProperties = {
	displayName: 'Callback URL Body Field',
	name: 'callbackUrlBodyField',
	type: 'string',
	default: 'callback_url',
	description: 'The name of the body field that holds the callback URL',
};

/** Create: opens a session in which a real person can verify themselves (contract 4.6, steps 1 and 2). */
export const createVerification: Operation = {
	option: {
		name: 'Create',
		value: 'create',
		description: 'Get a link by which a real person can verify themselves',
		action: 'Create a verification',
	},
	properties: [
		sessionNotice,
		callbackUrlField,
		referenceField,
		readLinkField,
		optionsCollection([
			additionalFieldsOption,
			callbackFieldOption,
			includeInputOption,
			requestsPerSecondOption,
			submitAgainOption,
		]),
	],
	execute: async (context) => {
		const { client } = await prepareRun(context);
		const ledger = new TaskLedger(readLedgerScope(context));
		const log = new TaskLog(context);
		return await runItems(context, {
			prepare: (itemIndex): ItemJob => {
				const submitAgain = readSubmitAgain(context, itemIndex);
				const { body, callbackUrl, reference } = readForm(context, itemIndex);
				const readsLink = readBoolean(context, itemIndex, readLinkField);
				const job: ItemJob = {
					run: async (controls) => {
						const taskId = await createOnce(
							{
								ledger,
								log,
								itemIndex,
								thing: 'verification',
								body,
								submitAgain,
								create: async (noRepeat) => await client.avatars.createVerification(body, noRepeat),
								isUsable: ({ acceptedAtMs }) => Date.now() - acceptedAtMs < LINK_LIFETIME_MS,
							},
							controls,
						);
						job.task = { taskId, status: 'completed', elapsedMs: 0 };
						// The session exists by now: whatever happens, the error names it.
						const session: VerificationSession = readsLink ? await namingTask(job.task, client.avatars.getVerification(taskId, true)) : { taskId, raw: {} };
						if (session.vendorToken !== undefined) remember(context, session.vendorToken, taskId);
						return {
							json: toVerificationOutput(session, {
								status: 'completed',
								verified: false,
								callback_url: callbackUrl === '' ? undefined : callbackUrl,
								reference: reference === '' ? undefined : reference,
							}),
						};
					},
				};
				return job;
			},
			onSuccess: () => ledger.clearRun(),
		});
	},
};

function readForm(context: IExecuteFunctions, itemIndex: number): { body: Body; callbackUrl: string; reference: string } {
	const { additionalFields, callbackUrlBodyField } = readItemOptions(context, itemIndex);
	const url = readText(context, itemIndex, callbackUrlField);
	if (url !== '' && !isPublicUrl(url)) {
		throw new GatewayError('badInput', `Callback URL is ${show(url)}, which is not an http(s) URL`, {
			field: 'Callback URL',
			description: 'Enter {{ $execution.resumeUrl }} as an expression, or the production URL of a Gateway Avatar Verification Trigger. Nothing was sent.',
		});
	}
	const reference = readText(context, itemIndex, referenceField);
	const callbackUrl = url === '' ? '' : toCallbackUrl(url, reference);
	const name = readFieldName(callbackUrlBodyField, callbackFieldOption.displayName, 'callback_url');
	const form: Body = callbackUrl === '' ? {} : { [name]: callbackUrl };
	const body = mergeDeep(form, parseJsonField('Additional Fields (JSON)', additionalFields));
	return { body, callbackUrl, reference };
}

/** For a Gateway Avatar Verification Trigger in this workflow. A manual run leaves nothing behind. */
function remember(context: IExecuteFunctions, vendorToken: string, taskId: string): void {
	if (context.getMode() === 'manual') return;
	const memory = { workflowId: String(context.getWorkflow().id), store: context.getWorkflowStaticData('global') as IDataObject };
	rememberVerification(memory, vendorToken, { taskId, atMs: Date.now() });
}
