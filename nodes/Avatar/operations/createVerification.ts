import type { INodeProperties } from 'n8n-workflow';
import { toCallbackUrl } from '../../../core/avatars/callback';
import { toBodySpec, type FieldSpec } from '../../../core/models/spec';
import { makeOrder } from '../../../core/orders/states';
import { asText } from '../../../core/text';
import { isUrl } from '../../../core/urls';
import { docsLink } from '../../form/docsLink';
import { simplifyField } from '../../form/fields';
import { additionalFieldsOption, optionsCollection, readSubmitAgain, submitAgainOption } from '../../form/options';
import { hashOf } from '../../run/hashOf';
import type { Operation } from '../../run/operation';
import { readBody } from '../../run/readBody';
import { verificationProduct, type AboutVerification } from '../products/verificationProduct';

const sessionNotice: INodeProperties = {
	displayName: `The link is valid for 120 seconds. The status completed does not mean that anybody has passed. ${docsLink('guides/avatars.md')}`,
	name: 'sessionNotice',
	type: 'notice',
	default: '',
};

const callbackUrlField: FieldSpec = {
	displayName: 'Callback URL',
	name: 'callbackUrl',
	type: 'string',
	default: '',
	placeholder: 'e.g. {{ $execution.resumeUrl }}',
	description:
		'What the browser opens afterwards: {{ $execution.resumeUrl }} if a Wait node (On Webhook Call) follows, the production URL of a Gateway Avatar Trigger, or any other URL',
	// Assumed: the contract does not show the body (4.6, step 1).
	bodyPath: 'callback_url',
	shape: 'name',
	reasons: { format: 'callbackNotAUrl' },
};

export const verificationBody = toBodySpec([callbackUrlField]);

const referenceField: INodeProperties = {
	displayName: 'Reference',
	name: 'reference',
	type: 'string',
	default: '',
	placeholder: 'e.g. 4f9c2e71a8',
	description: 'A code of your own for the person, which the trigger returns. Added to the callback URL as reference.',
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
	prepare: (item) => {
		// Without them nobody would learn of the result, or whose it is.
		item.assertNotLost(callbackUrlField);
		item.assertNotLost(referenceField);
		const url = item.text(callbackUrlField);
		const reference = item.text(referenceField);
		// A text that is no URL is shown as it was entered.
		const made = isUrl(url) ? { [callbackUrlField.name]: toCallbackUrl(url, reference) } : {};
		const { body, chosen } = readBody(item, verificationBody, made);
		const about: AboutVerification = {
			simplify: item.options.simplifies,
			callbackUrl: asText(body[callbackUrlField.bodyPath]),
			reference: reference || undefined,
		};
		return makeOrder({
			item: item.index,
			thing: 'verification',
			kind: 'real',
			request: { body, hash: hashOf('verification', chosen), ...readSubmitAgain(item.options) },
			then: 'read',
			about,
		});
	},
	product: verificationProduct,
};
