import type { INodeProperties } from 'n8n-workflow';
import { toCallbackUrl } from '../../../core/avatars/callback';
import { toBodySpec, type FieldSpec } from '../../../core/models/spec';
import { makeOrder } from '../../../core/orders/states';
import { asText } from '../../../core/text';
import { isUrl } from '../../../core/urls';
import { docsLink } from '../../form/docsLink';
import { simplifyField } from '../../form/fields';
import {
	additionalFieldsOption,
	includeInputOption,
	optionsCollection,
	requestsPerSecondOption,
} from '../../form/options';
import { hashOf } from '../../run/hashOf';
import type { Operation } from '../../run/operation';
import { readBody } from '../../run/readBody';
import { readBodyFieldName, submitAgainOption } from '../fields';
import { verificationProduct, type AboutVerification } from '../products/verificationProduct';

const sessionNotice: INodeProperties = {
	displayName: `The link is valid for 120 seconds. The status completed does not mean that anybody has passed. ${docsLink('nodes/avatar.md')}`,
	name: 'sessionNotice',
	type: 'notice',
	default: '',
};

/** Its place in the body is an option. */
const callbackUrlField: Omit<FieldSpec, 'bodyPath'> = {
	displayName: 'Callback URL',
	name: 'callbackUrl',
	type: 'string',
	default: '',
	placeholder: 'e.g. {{ $execution.resumeUrl }}',
	description:
		'What the browser opens afterwards: {{ $execution.resumeUrl }} if a Wait node (On Webhook Call) follows, the production URL of a Gateway Avatar Trigger, or any other URL',
	shape: 'name',
	reasons: { format: 'callbackNotAUrl' },
};

const referenceField: INodeProperties = {
	displayName: 'Reference',
	name: 'reference',
	type: 'string',
	default: '',
	placeholder: 'e.g. 4f9c2e71a8',
	description: 'A code of your own for the person, which the trigger returns. Added to the callback URL as reference.',
};

const readLinkField: INodeProperties = {
	displayName: 'Get Link',
	name: 'readLink',
	type: 'boolean',
	default: true,
	description: 'Whether to get the link and the vendor token immediately, so that none of the 120 seconds is lost',
};

const callbackFieldOption: INodeProperties = {
	displayName: 'Callback URL Body Field',
	name: 'callbackUrlBodyField',
	type: 'string',
	default: 'callback_url',
	description: 'The name of the body field that contains the callback URL',
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
		readLinkField,
		optionsCollection([
			additionalFieldsOption,
			callbackFieldOption,
			includeInputOption,
			requestsPerSecondOption,
			submitAgainOption,
			simplifyField,
		]),
	],
	describes: 'session',
	prepare: (item) => {
		// Without them nobody would learn of the result, or whose it is.
		item.assertNotLost(callbackUrlField);
		item.assertNotLost(referenceField);
		const url = item.text(callbackUrlField);
		const reference = item.text(referenceField);
		const bodyPath = readBodyFieldName(item.options, callbackFieldOption);
		const spec = toBodySpec([{ ...callbackUrlField, bodyPath }]);
		// What is no URL is shown as it was entered.
		const body = readBody(item, spec, isUrl(url) ? { [callbackUrlField.name]: toCallbackUrl(url, reference) } : {});
		const about: AboutVerification = {
			simplify: item.options.simplifies,
			callbackUrl: asText(body[bodyPath]),
			reference: reference || undefined,
		};
		return makeOrder({
			item: item.index,
			thing: 'verification',
			kind: 'real',
			request: { body, hash: hashOf('verification', body), submitAgain: item.options.flag(submitAgainOption) },
			then: item.flag(readLinkField) ? 'read' : 'nothing',
			about,
		});
	},
	product: verificationProduct,
};
