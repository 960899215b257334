import type { INodeProperties } from 'n8n-workflow';
import { toCallbackUrl } from '../../../core/avatars/callback';
import { gatewayError } from '../../../core/errors';
import { mergeDeep, type JsonObject } from '../../../core/json';
import { show } from '../../../core/text';
import { isUrl } from '../../../core/urls';
import { docsLink } from '../../form/docsLink';
import { additionalFieldsOption } from '../../form/options';
import type { Item } from '../../run/item';
import { readBodyFieldName } from '../fields';

export const sessionNotice: INodeProperties = {
	displayName: `The link is valid for 120 seconds. The status completed does not mean that anybody has passed. ${docsLink('nodes/avatar.md')}`,
	name: 'sessionNotice',
	type: 'notice',
	default: '',
};

export const callbackUrlField: INodeProperties = {
	displayName: 'Callback URL',
	name: 'callbackUrl',
	type: 'string',
	default: '',
	placeholder: 'e.g. {{ $execution.resumeUrl }}',
	description:
		'What the browser opens afterwards: {{ $execution.resumeUrl }} if a Wait node (On Webhook Call) follows, the production URL of a Gateway Avatar Verification Trigger, or any other URL',
};

export const referenceField: INodeProperties = {
	displayName: 'Reference',
	name: 'reference',
	type: 'string',
	default: '',
	placeholder: 'e.g. customer-42',
	description:
		'Your own name for the person, which the trigger returns. It is added to the callback URL as the parameter reference, in place of callback=1.',
};

export const readLinkField: INodeProperties = {
	displayName: 'Get Link',
	name: 'readLink',
	type: 'boolean',
	default: true,
	description: 'Whether to get the link and the vendor token immediately, so that none of the 120 seconds is lost',
};

export const callbackFieldOption: INodeProperties = {
	displayName: 'Callback URL Body Field',
	name: 'callbackUrlBodyField',
	type: 'string',
	default: 'callback_url',
	description: 'The name of the body field that contains the callback URL',
};

/**
 * The body of the request, and the values of it that are part of the output. Throws a `badInput` error that names the
 * field.
 */
export function readVerificationForm(item: Item): { body: JsonObject; callbackUrl?: string; reference?: string } {
	const url = item.text(callbackUrlField);
	if (url !== '') checkCallbackUrl(url);
	const reference = item.text(referenceField);
	const name = readBodyFieldName(item.options, callbackFieldOption);
	const form = url === '' ? {} : { [name]: toCallbackUrl(url, reference) };
	const body = mergeDeep(form, item.options.json(additionalFieldsOption));
	const sent = body[name];
	return {
		body,
		callbackUrl: sent === undefined ? undefined : checkCallbackUrl(sent),
		reference: reference || undefined,
	};
}

/** Checks the callback URL of the form, and the one that is really sent: Additional Fields may have another one. */
function checkCallbackUrl(url: unknown): string {
	if (isUrl(url)) return url;
	throw gatewayError('callbackNotAUrl', { label: callbackUrlField.displayName, value: show(url) });
}
