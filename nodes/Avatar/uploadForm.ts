import type { INodeProperties } from 'n8n-workflow';
import type { AvatarKind } from '../../core/avatars/records';
import { gatewayError } from '../../core/errors';
import type { JsonObject } from '../../core/json';
import type { PendingUpload } from '../../core/models/images';
import { isExpression } from '../../core/models/markRequired';
import { toBodySpec, type FieldSpec } from '../../core/models/spec';
import { toProperty } from '../../core/models/toProperties';
import { MAX_ID_LENGTH } from '../../core/orders/order';
import { isHttpUrl } from '../../core/urls';
import type { ChoiceField } from '../form/fieldReader';
import { hiddenInTools } from '../form/fields';
import { additionalFieldsOption } from '../form/options';
import { binaryFieldsOf, readBinaryImage } from '../generation/binaryImage';
import type { Item } from '../run/item';
import { readBody, type FormRequest } from '../run/readBody';

/** The contract does not show its name in the body (4.6 step 4, 4.7 step 2). */
export const groupIdField: FieldSpec = {
	displayName: 'Group ID',
	name: 'groupId',
	type: 'string',
	required: true,
	default: '',
	maxLength: MAX_ID_LENGTH,
	placeholder: 'e.g. {{ $json.group_id }}',
	description: 'The group_id that Group → Create or a passed verification returned',
	bodyPath: 'group_id',
	shape: 'id',
	alwaysSent: false,
};

/** An agent gets no files: it gives a URL. */
export const sourceField: ChoiceField<'url' | 'binary'> = {
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

export const assetTypeField: FieldSpec & ChoiceField<string> = {
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
	bodyPath: 'asset_type',
};

/** Of a real avatar, whose upload may have its source in another field: Additional Fields give that. */
const realSourceUrlField: FieldSpec = {
	displayName: 'Source URL',
	name: 'sourceUrl',
	type: 'string',
	default: '',
	placeholder: 'e.g. https://example.com/face.png',
	description: 'A public URL of the file',
	bodyPath: 'source_url',
	shape: 'name',
	format: 'url',
	reasons: { format: 'sourceNotAUrl', file: 'sourceIsFile' },
};

const sourceUrlField: FieldSpec = { ...realSourceUrlField, required: true };

const notPrivate = { avatarKind: ['real', isExpression] };

/**
 * Of these, the form shows one at a time. It is marked as required only where both choices are made there: where one of them is an
 * expression, n8n would refuse to run because of an empty field that may not be needed.
 */
export const sourceUrlFields: INodeProperties[] = [
	{
		...toProperty(sourceUrlField),
		displayOptions: { hide: { ...notPrivate, source: [...whenUrl.hide.source, isExpression] } },
	},
	{ ...toProperty(realSourceUrlField), displayOptions: { show: { avatarKind: ['real'] }, ...whenUrl } },
	{ ...toProperty(realSourceUrlField), displayOptions: { show: { source: [isExpression] }, hide: notPrivate } },
];

export const binaryField: INodeProperties = {
	displayName: 'Input Binary Field',
	name: 'binaryPropertyName',
	type: 'string',
	required: true,
	default: 'data',
	placeholder: 'e.g. data',
	hint: 'The name of the input field containing the image to upload, or an expression that returns a file from another node',
	displayOptions: { ...hiddenInTools, show: { source: ['binary'] } },
};

/** A file in the place of the URL is checked when it is read; its type is known, and no choice. */
const imageTypeField: FieldSpec = { ...assetTypeField, default: 'image', displayOptions: undefined };

/** The request of an upload, checked, with the image in it that is still to be uploaded, if there is one. */
export interface UploadRequest extends FormRequest {
	image?: PendingUpload;
}

/**
 * The request. The contract does not show that of a real avatar's upload (4.6): Additional Fields can leave out
 * what is assumed there, or give other values of it. Throws a `badInput` error that names the field.
 */
export function readUpload(item: Item, kind: AvatarKind): UploadRequest {
	return item.givenChoice(sourceField) === 'binary' ? readFromFile(item, kind) : readFromUrl(item, kind);
}

/** The fields of the body that the service may not take of a real avatar. */
const openFor = (kind: AvatarKind): Partial<FieldSpec> =>
	kind === 'private' ? { alwaysSent: true } : { alwaysSent: false, extraValues: 'all' };

function readFromUrl(item: Item, kind: AvatarKind): FormRequest {
	checkIsNoFile(item);
	item.givenChoice(assetTypeField);
	const open = openFor(kind);
	const hasMore = Object.keys(item.options.json(additionalFieldsOption)).length > 0;
	const required = kind === 'private' || !hasMore;
	return readBody(
		item,
		toBodySpec([groupIdField, { ...assetTypeField, ...open }, { ...sourceUrlField, ...open, required }]),
	);
}

function checkIsNoFile(item: Item): void {
	const [name, { displayName: label }] = [item.text(sourceUrlField), sourceUrlField];
	if (!isHttpUrl(name) && binaryFieldsOf(item).includes(name))
		throw gatewayError('sourceIsBinaryField', { label, name });
}

/** The form does not show the asset type of a file: the node uploads images only. */
function readFromFile(item: Item, kind: AvatarKind): Required<UploadRequest> {
	const given = item.given(binaryField);
	const { bodyPath } = sourceUrlField;
	if (bodyPath in item.options.json(additionalFieldsOption))
		throw gatewayError('fileNotInRequest', { label: binaryField.displayName, field: bodyPath });
	const image = readBinaryImage(item, given);
	const spec = toBodySpec([groupIdField, { ...imageTypeField, ...openFor(kind) }]);
	const { body, chosen } = readBody(item, spec, { [assetTypeField.name]: imageTypeField.default });
	const withImage = (of: JsonObject) => ({ ...of, [bodyPath]: image });
	return { body: withImage(body), chosen: { ...chosen, form: withImage(chosen.form) }, image };
}
