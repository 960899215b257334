import type { JsonObject } from '../../../core/json';
import { withReferences } from '../../../core/models/images';
import { makeOrder } from '../../../core/orders/states';
import { asText } from '../../../core/text';
import { simplifyField } from '../../form/fields';
import { additionalFieldsOption, optionsCollection, readSubmitAgain, submitAgainOption } from '../../form/options';
import { identifyFiles } from '../../generation/generate';
import { hashOf } from '../../run/hashOf';
import type { Operation } from '../../run/operation';
import { readWait } from '../../run/waitOptions';
import { assetTimeoutOption, avatarKindField, readWaitForActive, waitForActiveField } from '../fields';
import * as form from '../uploadForm';
import { assetProduct, type AboutAsset } from '../products/assetProduct';

/**
 * Upload: takes a file into a group by its URL (contract 4.6 step 4, 4.7 step 2), and waits until videos can use it. An image
 * in a binary field gets a URL first (4.8).
 */
export const uploadAsset: Operation = {
	option: {
		name: 'Upload',
		value: 'upload',
		description: 'Upload an image, a video or audio into an avatar group, and wait until videos can use it',
		action: 'Upload avatar asset',
	},
	properties: [
		avatarKindField,
		form.groupIdField,
		form.sourceField,
		form.assetTypeField,
		...form.sourceUrlFields,
		form.binaryField,
		waitForActiveField,
		optionsCollection([additionalFieldsOption, submitAgainOption, assetTimeoutOption, simplifyField]),
	],
	waitsFor: 'asset',
	describes: 'asset',
	prepare: async (item, run) => {
		const kind = item.givenChoice(avatarKindField);
		const { body: planned, chosen, image } = form.readUpload(item, kind);
		const waits = readWaitForActive(item);
		const hash = () => hashOf('asset', { ...chosen, kind });
		await identifyFiles(image === undefined ? [] : [image], { item, run, isKeyed: false, hash });
		const { body, files } = withReferences(planned);
		const groupId = groupIn(body, item.value(form.groupIdField));
		const about: AboutAsset = { simplify: item.options.simplifies, groupId, body: image === undefined ? body : {} };
		const order = makeOrder({
			item: item.index,
			thing: 'asset',
			kind,
			scope: `the group ${asText(groupId) ?? item.text(form.groupIdField)}`,
			request: { body, hash: hash(), ...readSubmitAgain(item.options) },
			then: waits ? 'poll' : 'nothing',
			wait: waits ? readWait(item, assetTimeoutOption, run) : undefined,
			about,
		});
		run.files.set(order, files);
		return order;
	},
	product: assetProduct,
};

/** The group as it is sent: Additional Fields may give another one, or the same one under another name. */
const groupIn = (body: JsonObject, ofForm: unknown) =>
	body[form.groupIdField.bodyPath] ?? Object.values(body).find((value) => value === ofForm);
