import { makeOrder } from '../../../core/orders/states';
import { simplifyField } from '../../form/fields';
import {
	additionalFieldsOption,
	includeInputOption,
	optionsCollection,
	requestsPerSecondOption,
} from '../../form/options';
import { hashOf } from '../../run/hashOf';
import type { Operation } from '../../run/operation';
import { submitAgainOption } from '../fields';
import * as form from '../forms/verificationForm';
import { verificationProduct, type AboutVerification } from '../products/verificationProduct';

/** Create: opens a session in which a real person can verify themselves (contract 4.6, steps 1 and 2). */
export const createVerification: Operation = {
	option: {
		name: 'Create',
		value: 'create',
		description: 'Get a link for a real person to verify themselves',
		action: 'Create avatar verification',
	},
	properties: [
		form.sessionNotice,
		form.callbackUrlField,
		form.referenceField,
		form.readLinkField,
		optionsCollection([
			additionalFieldsOption,
			form.callbackFieldOption,
			includeInputOption,
			requestsPerSecondOption,
			submitAgainOption,
			simplifyField,
		]),
	],
	prepare: (item) => {
		const { body, callbackUrl, reference } = form.readVerificationForm(item);
		const about: AboutVerification = { simplify: item.options.simplifies, callbackUrl, reference };
		return makeOrder({
			item: item.index,
			thing: 'verification',
			kind: 'real',
			request: { body, hash: hashOf('verification', body), submitAgain: item.options.flag(submitAgainOption) },
			then: item.flag(form.readLinkField) ? 'read' : 'nothing',
			about,
		});
	},
	product: verificationProduct,
};
