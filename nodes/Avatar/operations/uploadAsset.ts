import type { IDataObject } from 'n8n-workflow';
import { joinAnswers, parseAsset, type AvatarKind, type CreatedAnswer } from '../../../core/avatars/records';
import type { JsonObject } from '../../../core/json';
import { withReferences } from '../../../core/models/images';
import type { Creation } from '../../../core/engine/buyOnce';
import { idIn, textIn } from '../../../core/records/loose';
import { asText } from '../../../core/text';
import { simplifyField } from '../../form/fields';
import { additionalFieldsOption, optionsCollection, submitAgainOption } from '../../form/options';
import { identifyFiles } from '../../generation/binaryImage';
import { buying, toBuy } from '../../run/buy';
import { hashOf } from '../../run/requestHash';
import type { Operation } from '../../run/operation';
import { assetTimeoutOption, avatarKindField, waitForActiveField } from '../fields';
import { recordField, toAssetOutput } from '../outputs';
import * as form from '../uploadForm';
import { readAssetWait, waitUntilActive } from '../waitUntilActive';

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
		const { body: planned, chosen: ofForm, image } = form.readUpload(item, kind);
		const wait = readAssetWait(item, run);
		const simplify = item.options.simplifies;
		const chosen = { ...ofForm, kind };
		const hash = () => hashOf('asset', chosen);
		await identifyFiles(image === undefined ? [] : [image], { item, run, isKeyed: false, hash });
		const { body, files } = withReferences(planned);
		const groupId = groupIn(body, item.value(form.groupIdField));
		const asset = toBuy(item, 'asset', { body, chosen });
		asset.scope = `the group ${asText(groupId) ?? item.text(form.groupIdField)}`;
		run.files.set(asset, files);
		/** Empty where an earlier try has sent it with the URL of a file: that is not known here. */
		let sent = image === undefined ? body : {};
		const creation: Creation<CreatedAnswer> = {
			status: 'processing',
			send: async (withUrls, attempt) => {
				sent = withUrls;
				return await run.client.avatars.uploadAsset(kind, withUrls, attempt);
			},
		};
		return buying(run, asset, creation, async ({ task, answer, controls }) => {
			const uploaded = toUploadOutput(task.taskId, kind, { body: sent, groupId, answer: answer?.raw });
			if (wait === undefined) return { json: { ...uploaded, ...recordField(simplify, answer?.raw) } };
			const { record, json } = await waitUntilActive(run, controls, { about: asset, kind, wait });
			const raw = recordField(simplify, joinAnswers(answer?.raw, record?.raw));
			return { json: { ...uploaded, ...json, ...raw } };
		});
	},
};

/** The group as it is sent: Additional Fields may give another one, or the same one under another name. */
const groupIn = (body: JsonObject, ofForm: unknown) =>
	body.group_id ?? Object.values(body).find((value) => value === ofForm);

interface Uploaded {
	/** Of the creating request, as far as it is known. */
	body: JsonObject;
	groupId: unknown;
	answer?: JsonObject;
}

/** An asset that has just been uploaded. What the service says of it counts; where it does not say, what was sent. */
function toUploadOutput(assetId: string, kind: AvatarKind, { body, groupId, answer }: Uploaded): IDataObject {
	const shown = (name: string) => textIn(answer, name) ?? textIn(body, name);
	return toAssetOutput(assetId, kind, {
		...(parseAsset(answer) ?? { status: 'processing' }),
		groupId: idIn(answer, 'group_id') ?? idIn({ group_id: groupId }, 'group_id'),
		assetType: shown('asset_type'),
		sourceUrl: shown('source_url'),
	});
}
