import type { IDataObject, INodeProperties } from 'n8n-workflow';
import { joinAnswers, parseAsset, type AvatarKind, type CreatedAnswer } from '../../../core/avatars/records';
import type { Creation } from '../../../core/engine/buyOnce';
import { gatewayError, invalidInput, type GatewayError } from '../../../core/errors';
import type { JsonObject } from '../../../core/json';
import { throwAll } from '../../../core/models/body';
import { withReferences, type PendingUpload } from '../../../core/models/images';
import { isExpression } from '../../../core/models/model';
import { MAX_ID_LENGTH } from '../../../core/orders/order';
import { idIn, textIn } from '../../../core/records/loose';
import { asText, either, show } from '../../../core/text';
import { isFileContent, isHttpUrl, isSeveralUrls } from '../../../core/urls';
import type { ChoiceField } from '../../form/fieldReader';
import { hiddenInTools, simplifyField } from '../../form/fields';
import { additionalFieldsOption, optionsCollection, submitAgainOption } from '../../form/options';
import { binaryFieldsOf, identifyFiles, readBinaryImage } from '../../generation/binaryImage';
import { buying, isOfForm, toBuy, toRequest, type FormRequest } from '../../run/buy';
import type { Item } from '../../run/inputItem';
import type { Operation } from '../../run/operation';
import { hashOf } from '../../run/requestHash';
import { recordField } from '../../run/toItem';
import {
	assetTimeoutOption,
	avatarKindField,
	readAssetWait,
	toAssetOutput,
	waitForActiveField,
	waitUntilActive,
} from '../asset';

/** The contract does not show its name in the body (4.6 step 4, 4.7 step 2). */
const groupIdField: INodeProperties = {
	displayName: 'Group ID',
	name: 'groupId',
	type: 'string',
	required: true,
	default: '',
	placeholder: 'e.g. {{ $json.group_id }}',
	description: 'The group_id that Group → Create or a passed verification returned',
};

/** An agent gets no files: it gives a URL. */
const sourceField: ChoiceField<'url' | 'binary'> = {
	displayName: 'Source',
	name: 'source',
	type: 'options',
	options: [
		{ name: 'URL', value: 'url', description: 'A public URL of an image, a video or audio' },
		{
			name: 'Binary Field',
			value: 'binary',
			description: 'An image of the input item, which the node uploads first',
		},
	],
	default: 'url',
	description: 'The place where the file is',
	displayOptions: hiddenInTools,
};

/** Said as "hide otherwise": in a tool there is no Source. */
const whenUrl = { hide: { source: ['binary'] } };

export const assetTypeField: ChoiceField<string> = {
	displayName: 'Asset Type',
	name: 'assetType',
	type: 'options',
	options: [
		{ name: 'Audio', value: 'audio' },
		{ name: 'Image', value: 'image' },
		{ name: 'Video', value: 'video' },
	],
	default: 'image',
	description: 'Type of the file at the source URL',
	displayOptions: whenUrl,
};

/** Of a real avatar, whose upload may have its source in another field: Additional Fields give that. */
const realSourceUrlField: INodeProperties = {
	displayName: 'Source URL',
	name: 'sourceUrl',
	type: 'string',
	default: '',
	placeholder: 'e.g. https://example.com/face.png',
	description: 'A public URL of the file',
};

const sourceUrlField: INodeProperties = { ...realSourceUrlField, required: true };

const notPrivate = { avatarKind: ['real', isExpression] };

/**
 * Of these, the form shows one at a time. It is marked as required only where both choices are made there: where one of them is an
 * expression, n8n would refuse to run because of an empty field that may not be needed.
 */
const sourceUrlFields: INodeProperties[] = [
	{
		...sourceUrlField,
		displayOptions: { hide: { ...notPrivate, source: [...whenUrl.hide.source, isExpression] } },
	},
	{
		...realSourceUrlField,
		description: 'A public URL of the file. Needed unless Additional Fields give it.',
		displayOptions: { show: { avatarKind: ['real'] }, ...whenUrl },
	},
	{ ...realSourceUrlField, displayOptions: { show: { source: [isExpression] }, hide: notPrivate } },
];

const binaryField: INodeProperties = {
	displayName: 'Input Binary Field',
	name: 'binaryPropertyName',
	type: 'string',
	required: true,
	default: 'data',
	placeholder: 'e.g. data',
	hint: 'The name of the input field containing the image to upload, or an expression that returns a file from another node',
	displayOptions: { ...hiddenInTools, show: { source: ['binary'] } },
};

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
		groupIdField,
		sourceField,
		assetTypeField,
		...sourceUrlFields,
		binaryField,
		waitForActiveField,
		optionsCollection([additionalFieldsOption, submitAgainOption, assetTimeoutOption, simplifyField]),
	],
	waitsFor: 'asset',
	describes: 'asset',
	prepare: async (item, run) => {
		const kind = item.givenChoice(avatarKindField);
		const { body: planned, chosen: ofForm, image } = readUpload(item, kind);
		const wait = readAssetWait(item, run);
		const toRecordField = recordField(item.options);
		const chosen = { ...ofForm, kind };
		const hash = () => hashOf('asset', chosen);
		await identifyFiles(image === undefined ? [] : [image], { item, run, isKeyed: false, hash });
		const { body, files } = withReferences(planned);
		const groupId = groupIn(body, ofForm.form.group_id);
		const asset = toBuy(item, 'asset', { body, chosen });
		asset.scope = `the group ${asText(groupId) ?? item.text(groupIdField)}`;
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
			if (wait === undefined) return { json: { ...uploaded, ...toRecordField(answer?.raw) } };
			const { record, json } = await waitUntilActive(run, controls, { about: asset, kind, wait });
			const raw = toRecordField(joinAnswers(answer?.raw, record?.raw));
			return { json: { ...uploaded, ...json, ...raw } };
		});
	},
};

/** The request of an upload, checked, with the image in it that is still to be uploaded, if there is one. */
interface UploadRequest extends FormRequest {
	image?: PendingUpload;
}

/**
 * The request. The contract does not show that of a real avatar's upload (4.6): Additional Fields can leave out
 * what is assumed there, or give other values of it. Throws a `badInput` error that names the field.
 */
function readUpload(item: Item, kind: AvatarKind): UploadRequest {
	return item.givenChoice(sourceField) === 'binary' ? readFromFile(item, kind) : readFromUrl(item, kind);
}

function readFromUrl(item: Item, kind: AvatarKind): FormRequest {
	checkIsNoFile(item);
	const type = item.givenChoice(assetTypeField);
	const hasMore = Object.keys(item.options.json(additionalFieldsOption)).length > 0;
	const groupId = readGroupId(item);
	const isNeeded = kind === 'private' || !hasMore;
	item.assertNotLost(sourceUrlField);
	const request = toRequest(item, {
		group_id: { value: groupId },
		asset_type: { value: type, default: assetTypeField.default },
		source_url: { value: isNeeded ? item.requiredText(sourceUrlField) : item.text(sourceUrlField) },
	});
	throwAll([checkGroupId(request), checkType(request, kind), checkSource(request, kind)]);
	return request;
}

const PUBLIC_URL =
	'Enter a public URL that starts with https:// or http://. For an image in a binary field, set Source to Binary Field.';

function checkIsNoFile(item: Item): void {
	const [name, { displayName: label }] = [item.text(sourceUrlField), sourceUrlField];
	if (!isHttpUrl(name) && binaryFieldsOf(item).includes(name))
		throw invalidInput(`${label} is the name of the binary field "${name}": the field takes a URL only`, PUBLIC_URL);
}

/** The form does not show the asset type of a file: the node uploads images only. */
function readFromFile(item: Item, kind: AvatarKind): Required<UploadRequest> {
	const given = item.given(binaryField);
	if ('source_url' in item.options.json(additionalFieldsOption))
		throw invalidInput(
			`${binaryField.displayName} is not sent, because Additional Fields give or remove "source_url"`,
			'Remove "source_url" in Additional Fields, or set Source to URL.',
		);
	const image = readBinaryImage(item, given);
	// A file in the place of the URL is checked when it is read; its type is known, and no choice.
	const type = { value: 'image', default: 'image' };
	const request = toRequest(item, { group_id: { value: readGroupId(item) }, asset_type: type });
	throwAll([checkGroupId(request), checkType(request, kind)]);
	const withImage = (of: JsonObject) => ({ ...of, source_url: image });
	const { body, chosen } = request;
	return { ...request, body: withImage(body), chosen: { ...chosen, form: withImage(chosen.form) }, image };
}

/** The service has given a number: it gets one. */
function readGroupId(item: Item): string | number {
	const id = item.value(groupIdField);
	return typeof id === 'number' ? id : item.requiredText(groupIdField);
}

/** Additional Fields can leave it out, or give another one. */
function checkGroupId({ body: { group_id: id } }: FormRequest): GatewayError | undefined {
	const { displayName: label } = groupIdField;
	if (id === undefined || Number.isSafeInteger(id)) return undefined;
	if (typeof id !== 'string') return gatewayError('notText', { label, value: show(id) });
	if (id.trim() === '') return gatewayError('fieldEmpty', { label });
	const { length } = [...id];
	return length > MAX_ID_LENGTH ? gatewayError('textTooLong', { label, length, max: MAX_ID_LENGTH }) : undefined;
}

/** True for what the service may not take of a real avatar: Additional Fields can leave it out, or give any other value. */
const isOpen = (request: FormRequest, kind: AvatarKind, name: string) =>
	kind === 'real' && (request.body[name] === undefined || !isOfForm(request, name));

function checkType(request: FormRequest, kind: AvatarKind): GatewayError | undefined {
	const { asset_type: type = '' } = request.body;
	const { displayName: label, options } = assetTypeField;
	const allowed = options.map(({ value }) => value);
	if (isOpen(request, kind, 'asset_type') || allowed.some((value) => value === type)) return undefined;
	if (type === '') return gatewayError('fieldEmpty', { label });
	return gatewayError('notAChoice', { label, value: show(type), allowed: either(allowed) });
}

function checkSource(request: FormRequest, kind: AvatarKind): GatewayError | undefined {
	const { source_url: url = '' } = request.body;
	const { displayName: label } = sourceUrlField;
	if (isOpen(request, kind, 'source_url') || (isHttpUrl(url) && !isSeveralUrls(url))) return undefined;
	if (typeof url === 'string' && url.trim() === '') return gatewayError('fieldEmpty', { label });
	if (isSeveralUrls(url))
		return invalidInput(
			`${label} contains several URLs: ${show(url)}`,
			'Enter one URL. Each asset is an item of its own.',
		);
	const message = isFileContent(url)
		? `${label} contains the file itself: the field takes a URL only`
		: `${label} is ${show(url)}, which is not an http(s) URL`;
	return invalidInput(message, PUBLIC_URL);
}

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
