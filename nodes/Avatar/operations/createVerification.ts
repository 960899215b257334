import type { INodeProperties } from 'n8n-workflow';
import { toCallbackUrl } from '../../../core/avatars/callback';
import { rememberVerification } from '../../../core/avatars/memory';
import { joinAnswers, type VerificationSession } from '../../../core/avatars/records';
import { namingTask } from '../../../core/errors';
import { mergeDeep, type JsonObject } from '../../../core/json';
import { show } from '../../../core/text';
import { isHttpUrl } from '../../../core/urls';
import { formError } from '../../errors/formErrors';
import { simplifyField } from '../../form/fields';
import { additionalFieldsOption, includeInputOption, optionsCollection, requestsPerSecondOption } from '../../form/options';
import type { Item } from '../../run/item';
import type { Operation } from '../../run/operation';
import { purchase } from '../../run/purchase';
import { memoryOf } from '../../run/verificationMemory';
import { readBodyFieldName, submitAgainOption } from '../fields';
import { readRecordOutput } from '../record';
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
		simplifyField,
		optionsCollection([
			additionalFieldsOption,
			callbackFieldOption,
			includeInputOption,
			requestsPerSecondOption,
			submitAgainOption,
		]),
	],
	prepare: (item, run) => {
		const { body, callbackUrl, reference } = readForm(item);
		const submitAgain = item.options.flag(submitAgainOption);
		const readsLink = item.flag(readLinkField);
		const toRecord = readRecordOutput(item);
		const { avatars } = run.client;
		return async (controls) => {
			const { id: taskId, answer } = await purchase(run, item, controls, {
				thing: 'verification',
				request: body,
				submitAgain,
				status: 'created',
				create: async (noRepeat) => await avatars.createVerification(body, noRepeat),
				isUsable: ({ acceptedAtMs }) => Date.now() - acceptedAtMs < LINK_LIFETIME_MS,
			});
			// The session exists by now: whatever happens, the error names it.
			const task = item.concerns(taskId, answer?.status ?? 'created');
			const session: VerificationSession = readsLink ? await namingTask(task, avatars.getVerification(taskId, true)) : { taskId, raw: {} };
			if (session.vendorToken !== undefined) remember(item, session.vendorToken, taskId);
			const status = answer?.status ?? session.status;
			const record = toRecord(joinAnswers(answer?.raw, session.raw));
			return { json: toVerificationOutput({ ...session, status }, { verified: false, callback_url: callbackUrl, reference, ...record }) };
		};
	},
};

function readForm(item: Item): { body: JsonObject; callbackUrl?: string; reference?: string } {
	const url = item.text(callbackUrlField);
	if (url !== '') checkCallbackUrl(url);
	const reference = item.text(referenceField);
	const name = readBodyFieldName(item.options, callbackFieldOption);
	const form = url === '' ? {} : { [name]: toCallbackUrl(url, reference) };
	const body = mergeDeep(form, item.options.json(additionalFieldsOption));
	const sent = body[name];
	return { body, callbackUrl: sent === undefined ? undefined : checkCallbackUrl(sent), reference: reference || undefined };
}

/** In the form, and in what is really sent: Additional Fields may have another one. */
function checkCallbackUrl(url: unknown): string {
	if (isHttpUrl(url)) return url;
	throw formError('callbackNoUrl', { label: callbackUrlField.displayName, value: show(url) });
}

/** For a Gateway Avatar Verification Trigger in this workflow. A manual run leaves nothing behind. */
function remember({ context }: Item, vendorToken: string, taskId: string): void {
	if (context.getMode() === 'manual') return;
	rememberVerification(memoryOf(context), vendorToken, { taskId, atMs: Date.now() });
}
