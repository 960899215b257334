import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';
import { parseCallback, toCallbackUrl } from '../../../core/avatars/callback';
import { rememberVerification } from '../../../core/avatars/memory';
import { joinAnswers, type CreatedAnswer } from '../../../core/avatars/records';
import { gatewayError, type GatewayError, invalidInput, namingTask } from '../../../core/errors';
import { VERIFICATION_LINK_MS } from '../../../core/limits';
import type { Creation } from '../../../core/engine/buyOnce';
import { show } from '../../../core/text';
import { isUrl, LONGEST_URL } from '../../../core/urls';
import { resumeUrlOf } from '../../durable/wakeUp';
import type { TextField } from '../../form/fieldReader';
import { docsLink, simplifyField } from '../../form/fields';
import { additionalFieldsOption, optionsCollection, submitAgainOption } from '../../form/options';
import { buying, toBuy, toRequest } from '../../run/buy';
import type { Operation } from '../../run/operation';
import { recordField } from '../../run/toItem';
import { memoryOf, toVerificationOutput } from '../verification';

const sessionNotice: INodeProperties = {
	displayName: `The link is valid for 120 seconds. The status completed does not mean that anybody has passed. ${docsLink('guides/avatars.md')}`,
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
	description:
		'What the browser opens afterwards: {{ $execution.resumeUrl }} if a Wait node (On Webhook Call) follows, the production URL of a Gateway Avatar Trigger, or any other URL',
};

const referenceField: TextField = {
	displayName: 'Reference',
	name: 'reference',
	type: 'string',
	default: '',
	placeholder: 'e.g. 4f9c2e71a8',
	description: 'A code of your own for the person, which the trigger returns. Added to the callback URL as reference.',
	// Ours: it becomes part of an address.
	maxLength: 500,
};

/** Create: opens a session in which a real person can verify themselves (contract 4.6, steps 1 and 2). */
export const createVerification: Operation = {
	option: {
		name: 'Create',
		value: 'create',
		description: 'Get a link for a real person to verify themselves',
		action: 'Create avatar verification',
	},
	properties: [
		sessionNotice,
		callbackUrlField,
		referenceField,
		optionsCollection([additionalFieldsOption, submitAgainOption, simplifyField]),
	],
	prepare: (item, run) => {
		// Without them the workflow would not learn of the result, or whose it is.
		item.assertNotLost(callbackUrlField);
		item.assertNotLost(referenceField);
		const url = item.text(callbackUrlField);
		const reference = item.text(referenceField);
		// Assumed: the contract does not show the body (4.6, step 1). A text that is no URL is shown as it was entered.
		const given = { value: isUrl(url) ? toCallbackUrl(url, reference) : url, default: callbackUrlField.default };
		const request = toRequest(item, { callback_url: given });
		const callbackUrl = checkCallbackUrl(request.body.callback_url, run.context);
		const record = recordField(item.options);
		const { avatars } = run.client;
		const creation: Creation<CreatedAnswer> = {
			status: 'created',
			send: avatars.createVerification.bind(avatars),
			// The link of an older session has expired.
			isReusable: ({ acceptedAtMs }) => Date.now() - acceptedAtMs < VERIFICATION_LINK_MS,
		};
		return buying(run, toBuy(item, 'verification', request), creation, async ({ task, answer }) => {
			// The link comes with a read. Right after the creation, the service may not know the ID yet.
			const isNotKnownYet = ({ kind }: GatewayError) => kind === 'notFound';
			const session = await namingTask(task, avatars.getVerification(task.taskId, isNotKnownYet));
			// For a trigger in this workflow. A manual execution is not remembered.
			if (session.vendorToken !== undefined && run.context.getMode() !== 'manual') {
				const given = reference || parseCallback(callbackUrl ?? '').reference;
				const verification = { taskId: task.taskId, reference: given, atMs: Date.now() };
				rememberVerification(memoryOf(run.context), session.vendorToken, verification);
			}
			if (session.h5Link === undefined)
				throw gatewayError('noVerificationLink', { id: task.taskId, status: session.status }, { task });
			const raw = record(joinAnswers(answer?.raw, session.raw));
			const more = { verified: false, callback_url: callbackUrl, reference: reference || undefined, ...raw };
			return { json: toVerificationOutput({ ...session, status: answer?.status ?? session.status }, more) };
		});
	},
};

/** The callback URL as it is sent: Additional Fields may give another one, or none. Throws where no person could come back to it. */
function checkCallbackUrl(sent: unknown, context: IExecuteFunctions): string | undefined {
	const { displayName: label } = callbackUrlField;
	if (sent === undefined) return undefined;
	if (!isUrl(sent))
		throw invalidInput(
			`${label} is ${show(sent)}, which is not a URL`,
			'Enter {{ $execution.resumeUrl }} as an expression, the production URL of a Gateway Avatar Trigger, or any other URL, e.g. https://example.com or myapp://verified.',
		);
	const { length } = sent;
	if (length > LONGEST_URL) throw gatewayError('textTooLong', { label, length, max: LONGEST_URL });
	if (resumesForSeveral(context, sent))
		throw invalidInput(
			`${label} is {{ $execution.resumeUrl }}, which several items cannot share`,
			'An execution has only one, and the first person who comes back resumes it. Put this node and Wait into Loop Over Items with a Batch Size of 1, or enter the production URL of a Gateway Avatar Trigger.',
		);
	return sent;
}

/**
 * True where several people would come back to the one URL that resumes this execution: n8n resumes it for the first of
 * them, and the results of the others are lost.
 */
function resumesForSeveral(context: IExecuteFunctions, callbackUrl: string): boolean {
	if (context.getInputData().length < 2) return false;
	const [resumeUrl = ''] = resumeUrlOf(context).split('?');
	return resumeUrl !== '' && callbackUrl.startsWith(resumeUrl);
}
