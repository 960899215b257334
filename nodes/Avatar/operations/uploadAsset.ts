import type { IDataObject, IExecuteFunctions, INodeProperties } from 'n8n-workflow';
import { asGatewayError, GatewayError } from '../../../core/errors';
import { isFileContent, isPublicUrl } from '../../../core/models/images';
import { show } from '../../../core/models/issues';
import { mergeDeep, type Body } from '../../../core/json';
import { parseJsonField } from '../../../core/models/toBody';
import { TaskLedger } from '../../../core/tasks/ledger';
import { createOnce } from '../../run/purchase';
import { prepareRun } from '../../run/run';
import { addHints } from '../../run/hints';
import { readLedgerScope } from '../../run/ledgerScope';
import type { Operation } from '../../run/operation';
import * as options from '../../form/options';
import { readBoolean, readChoice, readRequiredText, readText } from '../../form/readParameters';
import { runItems, type ItemJob } from '../../run/runItems';
import { TaskLog } from '../../run/taskLog';
import { avatarKindField, readAvatarKind, readFieldName, readItemOptions, readSubmitAgain, submitAgainOption, timeoutOption } from '../fields';
import { finishAsset, readWaitOptions, toAssetOutput } from '../finishAsset';

const groupIdField: INodeProperties = {
	displayName: 'Group ID',
	name: 'groupId',
	type: 'string',
	required: true,
	default: '',
	placeholder: 'e.g. {{ $json.group_id }}',
	description: 'The group_id that Group → Create or a passed verification returned',
};

const assetTypeField: INodeProperties = {
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
	execute: async (context) => {
		const { client, concurrency } = await prepareRun(context);
		const ledger = new TaskLedger(readLedgerScope(context));
		const log = new TaskLog(context);
		const output = await runItems(context, {
			concurrency,
			prepare: (itemIndex): ItemJob => {
				const itemOptions = readItemOptions(context, itemIndex);
				const submitAgain = readSubmitAgain(context, itemIndex);
				const kind = readAvatarKind(context, itemIndex);
				const groupId = readRequiredText(context, itemIndex, groupIdField, 'Enter the group_id that Group → Create or a passed verification returned.');
				const body = readBody(context, itemIndex, groupId, itemOptions);
				const waits = readBoolean(context, itemIndex, waitForActiveField);
				const wait = readWaitOptions(context, itemIndex);
				const job: ItemJob = {
					run: async (controls) => {
						const assetId = await createOnce(
							{
								ledger,
								log,
								itemIndex,
								thing: 'asset',
								body: { ...body, kind },
								submitAgain,
								create: async (noRepeat) => await client.avatars.uploadAsset(kind, body, noRepeat),
							},
							controls,
						);
						const task = (job.task = { taskId: assetId, status: 'processing', elapsedMs: 0 });
						const sent = toAssetOutput(assetId, kind, {
							status: 'processing',
							groupId,
							assetType: String(body.asset_type),
							sourceUrl: String(body.source_url),
						});
						if (!waits) return { json: sent };
						try {
							return { json: { ...sent, ...(await finishAsset(client, kind, task, wait, controls.signal, Date.now())) } };
						} catch (thrown) {
							// What could not be processed may be uploaded anew by a retry.
							const error = asGatewayError(thrown);
							if (error.kind === 'taskFailed') ledger.forget(itemIndex);
							throw error;
						}
					},
				};
				return job;
			},
			onSuccess: () => ledger.clearRun(),
		});
		addHints(context, output, 'asset');
		return output;
	},
};

function readBody(context: IExecuteFunctions, itemIndex: number, groupId: string, itemOptions: IDataObject): Body {
	const groupField = readFieldName(itemOptions.groupIdBodyField, groupFieldOption.displayName, 'group_id');
	const form: Body = {
		[groupField]: groupId,
		asset_type: readChoice(context, itemIndex, assetTypeField),
		source_url: readSourceUrl(context, itemIndex),
	};
	return mergeDeep(form, parseJsonField('Additional Fields (JSON)', itemOptions.additionalFields));
}

function readSourceUrl(context: IExecuteFunctions, itemIndex: number): string {
	const url = readText(context, itemIndex, sourceUrlField);
	if (isPublicUrl(url)) return url;
	const upload = 'For an image in a binary field, get a URL with Gateway Image Generation → Upload Image first.';
	const binary = Object.keys(context.getInputData()[itemIndex].binary ?? {});
	throw new GatewayError(
		'badInput',
		isFileContent(url)
			? 'Source URL holds the file itself: the service accepts a URL only'
			: url === ''
				? 'Source URL is empty'
				: binary.includes(url)
					? `Source URL is the name of the binary field "${url}": the service accepts a URL only`
					: `Source URL is ${show(url)}, which is not an http(s) URL`,
		{
			field: 'Source URL',
			description: `Enter a public address that starts with https:// or http://. ${upload} Nothing was sent.`,
		},
	);
}
