import type { INodeProperties } from 'n8n-workflow';
import { toCallbackUrl } from '../../../core/avatars/callback';
import type { JsonObject } from '../../../core/json';
import { toBodySpec, type FieldSpec } from '../../../core/models/spec';
import { asText } from '../../../core/text';
import { isUrl } from '../../../core/urls';
import { docsLink } from '../../form/docsLink';
import type { Item } from '../../run/item';
import { readBody } from '../../run/readBody';
import { readBodyFieldName } from '../fields';

export const sessionNotice: INodeProperties = {
	displayName: `The link is valid for 120 seconds. The status completed does not mean that anybody has passed. ${docsLink('nodes/avatar.md')}`,
	name: 'sessionNotice',
	type: 'notice',
	default: '',
};

export const callbackUrlField: FieldSpec = {
	displayName: 'Callback URL',
	name: 'callbackUrl',
	type: 'string',
	default: '',
	placeholder: 'e.g. {{ $execution.resumeUrl }}',
	description:
		'What the browser opens afterwards: {{ $execution.resumeUrl }} if a Wait node (On Webhook Call) follows, the production URL of a Gateway Avatar Verification Trigger, or any other URL',
	bodyPath: 'callback_url',
	shape: 'name',
	format: 'address',
	reasons: { format: 'callbackNotAUrl' },
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
	const reference = item.text(referenceField);
	const name = readBodyFieldName(item.options, callbackFieldOption);
	const spec = toBodySpec([{ ...callbackUrlField, bodyPath: name }]);
	// What is none is shown as it was entered.
	const body = readBody(item, spec, isUrl(url) ? { [callbackUrlField.name]: toCallbackUrl(url, reference) } : {});
	return { body, callbackUrl: asText(body[name]), reference: reference || undefined };
}
