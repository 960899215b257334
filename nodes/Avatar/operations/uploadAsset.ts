import type { INodeProperties } from 'n8n-workflow';
import { joinAnswers, parseAsset, type AvatarKind } from '../../../core/avatars/records';
import { asGatewayError } from '../../../core/errors';
import { mergeDeep, type JsonObject } from '../../../core/json';
import { textIn } from '../../../core/records/loose';
import { show } from '../../../core/text';
import { isFileContent, isHttpUrl } from '../../../core/urls';
import { formError } from '../../errors/formErrors';
import { FieldReader, type ChoiceField } from '../../form/fieldReader';
import { simplifyField } from '../../form/fields';
import * as options from '../../form/options';
import { binaryFieldsOf } from '../../generation/binaryImage';
import { readWaitOptions } from '../../run/waitOptions';
import type { Item } from '../../run/item';
import type { Operation } from '../../run/operation';
import { purchase } from '../../run/purchase';
import { toAssetOutput, waitForAssetOutput } from '../assetOutput';
import { avatarKindField, readBodyFieldName, submitAgainOption, timeoutOption } from '../fields';
import { readRecordOutput } from '../record';

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
		simplifyField,
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
		const { body, groupIdName } = readBody(item, kind);
		const waits = item.flag(waitForActiveField);
		const wait = readWaitOptions(item.options, timeoutOption);
		const submitAgain = item.options.flag(submitAgainOption);
		item.scope = `the group ${String(body[groupIdName])}`;
		const toRecord = readRecordOutput(item);
		return async (controls) => {
			const { id, answer } = await purchase(run, item, controls, {
				thing: 'asset',
				request: { ...body, kind },
				submitAgain,
				status: 'processing',
				create: async (noRepeat) => await client.avatars.uploadAsset(kind, body, noRepeat),
			});
			// What the service says of it counts; where it does not say, what was sent.
			const shown = (name: string, sentAs = name) => textIn(answer?.raw, name) ?? textIn(body, sentAs);
			const sent = toAssetOutput(id, kind, {
				...(parseAsset(answer?.raw) ?? { status: 'processing' }),
				groupId: shown('group_id', groupIdName),
				assetType: shown('asset_type'),
				sourceUrl: shown('source_url'),
			});
			if (!waits) return { json: { ...sent, ...toRecord(answer?.raw ?? {}) } };
			try {
				const startedAtMs = Date.now();
				const acceptedAtMs = answer && startedAtMs;
				const task = item.task ?? item.concerns(id, 'processing');
				const { json, raw } = await waitForAssetOutput(client, kind, task, { ...wait, startedAtMs, acceptedAtMs, signal: controls.signal });
				return { json: { ...sent, ...json, ...toRecord(joinAnswers(answer?.raw, raw)) } };
			} catch (thrown) {
				// What could not be processed may be uploaded anew by a retry.
				const error = asGatewayError(thrown);
				if (error.kind === 'taskFailed') ledger.forget(item.index);
				throw error;
			}
		};
	},
};

function readBody(item: Item, kind: AvatarKind): { body: JsonObject; groupIdName: string } {
	const groupIdName = readBodyFieldName(item.options, groupFieldOption);
	const form = {
		[groupIdName]: item.requiredText(groupIdField),
		asset_type: item.choice(assetTypeField),
		source_url: checkSourceUrl(item, item.requiredText(sourceUrlField)),
	};
	const body = mergeDeep(form, item.options.json(options.additionalFieldsOption));
	checkMerged(item, kind, body, groupIdName);
	return { body, groupIdName };
}

/**
 * Everything once more, as it is really sent. Of a real avatar's upload the contract does not show the body (4.6): an
 * assumed field may be left out there.
 */
function checkMerged(item: Item, kind: AvatarKind, body: JsonObject, groupIdName: string): void {
	const sent = new FieldReader((name) => body[name]);
	const isChecked = (name: string, isNeeded: boolean) => isNeeded || body[name] !== undefined;
	if (isChecked(groupIdName, false)) sent.requiredText({ ...groupIdField, name: groupIdName });
	if (isChecked('asset_type', kind === 'private')) {
		const assetType = { ...assetTypeField, name: 'asset_type' };
		sent.requiredText(assetType);
		sent.choice(assetType);
	}
	if (isChecked('source_url', kind === 'private')) {
		sent.requiredText({ ...sourceUrlField, name: 'source_url' });
		checkSourceUrl(item, String(body.source_url));
	}
}

function checkSourceUrl(item: Item, url: string): string {
	if (isHttpUrl(url)) return url;
	const { displayName: label } = sourceUrlField;
	if (isFileContent(url)) throw formError('sourceIsFile', { label });
	if (binaryFieldsOf(item).includes(url)) throw formError('sourceIsBinaryField', { label, name: url });
	throw formError('sourceNoUrl', { label, value: show(url) });
}
