import type { INodeProperties } from 'n8n-workflow';
import { asGatewayError } from '../../../core/errors';
import { mergeDeep, type JsonObject } from '../../../core/json';
import { show } from '../../../core/text';
import { isFileContent, isHttpUrl } from '../../../core/urls';
import { formError } from '../../errors/formErrors';
import type { ChoiceField } from '../../form/fieldReader';
import * as options from '../../form/options';
import { readWaitOptions } from '../../run/waitOptions';
import type { Item } from '../../run/item';
import type { Operation } from '../../run/operation';
import { purchase } from '../../run/purchase';
import { toAssetOutput, waitForAssetOutput } from '../assetOutput';
import { avatarKindField, readBodyFieldName, submitAgainOption, timeoutOption } from '../fields';

const groupIdField: INodeProperties = {
	displayName: 'Group ID',
	name: 'groupId',
	type: 'string',
	required: true,
	default: '',
	placeholder: 'e.g. {{ $json.group_id }}',
	description: 'The group_id that Group → Create or a passed verification returned',
};

const assetTypeField: ChoiceField<'audio' | 'image' | 'video'> = {
	displayName: 'Asset Type',
	name: 'assetType',
	type: 'options',
	options: [
		{ name: 'Audio', value: 'audio' },
		{ name: 'Image', value: 'image' },
		{ name: 'Video', value: 'video' },
	],
	default: 'image',
	description: 'What is behind the source URL',
};

const sourceUrlField: INodeProperties = {
	displayName: 'Source URL',
	name: 'sourceUrl',
	type: 'string',
	required: true,
	default: '',
	placeholder: 'e.g. https://example.com/face.png',
	description: 'A public address of the file. For an image in a binary field, get a URL with Gateway Image Generation → Upload Image first.',
};

const waitForActiveField: INodeProperties = {
	displayName: 'Wait for Active',
	name: 'waitForActive',
	type: 'boolean',
	default: true,
	description: 'Whether to wait until the asset is active. Videos can use it only then.',
};

const groupFieldOption: INodeProperties = {
	displayName: 'Group ID Body Field',
	name: 'groupIdBodyField',
	type: 'string',
	default: 'group_id',
	description: 'The name of the body field that holds the group ID',
};

/** Upload: takes a file into a group by its URL (contract 4.6 step 4, 4.7 step 2), and waits until videos can use it. */
export const uploadAsset: Operation = {
	option: {
		name: 'Upload',
		value: 'upload',
		description: 'Upload an image, a video or audio into an avatar group by its URL',
		action: 'Upload an asset',
	},
	properties: [
		avatarKindField,
		groupIdField,
		assetTypeField,
		sourceUrlField,
		waitForActiveField,
		options.optionsCollection([
			options.additionalFieldsOption,
			options.concurrentTasksOption,
			groupFieldOption,
			options.includeInputOption,
			options.onTimeoutOption,
			options.pollIntervalOption,
			options.requestsPerSecondOption,
			submitAgainOption,
			timeoutOption,
		]),
	],
	waitsFor: 'asset',
	prepare: (item, run) => {
		const { client, ledger } = run;
		const kind = item.choice(avatarKindField);
		const groupId = item.requiredText(groupIdField);
		const body = readBody(item, groupId);
		const waits = item.flag(waitForActiveField);
		const wait = readWaitOptions(item.options, timeoutOption);
		const submitAgain = item.options.flag(submitAgainOption);
		item.scope = `the group ${groupId}`;
		return async (controls) => {
			const { id, answer } = await purchase(run, item, controls, {
				thing: 'asset',
				request: { ...body, kind },
				submitAgain,
				status: 'processing',
				create: async (noRepeat) => ({ id: await client.avatars.uploadAsset(kind, body, noRepeat) }),
			});
			const sent = toAssetOutput(id, kind, {
				status: 'processing',
				groupId,
				assetType: String(body.asset_type),
				sourceUrl: String(body.source_url),
			});
			if (!waits) return { json: sent };
			try {
				const startedAtMs = Date.now();
				const acceptedAtMs = answer && startedAtMs;
				const task = item.task ?? item.concerns(id, 'processing');
				return { json: { ...sent, ...(await waitForAssetOutput(client, kind, task, { ...wait, startedAtMs, acceptedAtMs, signal: controls.signal })) } };
			} catch (thrown) {
				// What could not be processed may be uploaded anew by a retry.
				const error = asGatewayError(thrown);
				if (error.kind === 'taskFailed') ledger.forget(item.index);
				throw error;
			}
		};
	},
};

function readBody(item: Item, groupId: string): JsonObject {
	const form = {
		[readBodyFieldName(item.options, groupFieldOption)]: groupId,
		asset_type: item.choice(assetTypeField),
		source_url: readSourceUrl(item),
	};
	return mergeDeep(form, item.options.json(options.additionalFieldsOption));
}

function readSourceUrl(item: Item): string {
	const url = item.requiredText(sourceUrlField);
	if (isHttpUrl(url)) return url;
	const { displayName: label } = sourceUrlField;
	if (isFileContent(url)) throw formError('sourceIsFile', { label });
	const binaryFields = Object.keys(item.input.binary ?? {});
	if (binaryFields.includes(url)) throw formError('sourceIsBinaryField', { label, name: url });
	throw formError('sourceNoUrl', { label, value: show(url) });
}
