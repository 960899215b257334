import { makeOrder } from '../../../core/orders/states';
import { asText } from '../../../core/text';
import { simplifyField } from '../../form/fields';
import * as options from '../../form/options';
import { hashOf } from '../../run/hashOf';
import type { Operation } from '../../run/operation';
import { readWaitOptions } from '../../run/waitOptions';
import { avatarKindField, submitAgainOption, timeoutOption } from '../fields';
import * as form from '../uploadForm';
import { assetProduct, type AboutAsset } from '../products/assetProduct';

/** Upload: takes a file into a group by its URL (contract 4.6 step 4, 4.7 step 2), and waits until videos can use it. */
export const uploadAsset: Operation = {
	option: {
		name: 'Upload',
		value: 'upload',
		description: 'Upload an image, a video or audio into an avatar group by its URL',
		action: 'Upload avatar asset',
	},
	properties: [
		avatarKindField,
		form.groupIdField,
		form.assetTypeField,
		...form.sourceUrlFields,
		form.waitForActiveField,
		options.optionsCollection([
			options.additionalFieldsOption,
			options.concurrentItemsOption,
			form.groupFieldOption,
			options.includeInputOption,
			options.onTimeoutOption,
			options.pollIntervalOption,
			options.requestsPerSecondOption,
			submitAgainOption,
			timeoutOption,
			simplifyField,
		]),
	],
	waitsFor: 'asset',
	describes: 'asset',
	prepare: (item) => {
		const kind = item.givenChoice(avatarKindField);
		const { body, groupIdName } = form.readUploadBody(item, kind);
		const about: AboutAsset = { simplify: item.options.simplifies, body, groupIdName };
		return makeOrder({
			item: item.index,
			thing: 'asset',
			kind,
			// Additional Fields may have put it elsewhere.
			scope: `the group ${asText(body[groupIdName]) ?? item.text(form.groupIdField)}`,
			request: { body, hash: hashOf('asset', { ...body, kind }), submitAgain: item.options.flag(submitAgainOption) },
			then: item.flag(form.waitForActiveField) ? 'poll' : 'nothing',
			wait: readWaitOptions(item.options, timeoutOption),
			about,
		});
	},
	product: assetProduct,
};
