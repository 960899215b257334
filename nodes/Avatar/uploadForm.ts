import type { INodeProperties } from 'n8n-workflow';
import type { AvatarKind } from '../../core/avatars/records';
import { gatewayError } from '../../core/errors';
import type { JsonObject } from '../../core/json';
import { toBodySpec, type FieldSpec } from '../../core/models/spec';
import { toProperty } from '../../core/models/toProperties';
import { MAX_ID_LENGTH } from '../../core/orders/order';
import { isHttpUrl } from '../../core/urls';
import type { ChoiceField } from '../form/fieldReader';
import { additionalFieldsOption } from '../form/options';
import { binaryFieldsOf } from '../generation/binaryImage';
import type { Item } from '../run/item';
import { readBody } from '../run/readBody';
import { readBodyFieldName } from './fields';

/** Its place in the body is an option. */
export const groupIdField: Omit<FieldSpec, 'bodyPath'> = {
	displayName: 'Group ID',
	name: 'groupId',
	type: 'string',
	required: true,
	default: '',
	maxLength: MAX_ID_LENGTH,
	placeholder: 'e.g. {{ $json.group_id }}',
	description: 'The group_id that Group → Create or a passed verification returned',
	shape: 'id',
	alwaysSent: false,
};

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
	bodyPath: 'asset_type',
};

/** Of a real avatar, whose upload may have its source in another field: Additional Fields give that. */
const realSourceUrlField: FieldSpec = {
	displayName: 'Source URL',
	name: 'sourceUrl',
	type: 'string',
	default: '',
	placeholder: 'e.g. https://example.com/face.png',
	description:
		'A public URL of the file. For an image in a binary field, get a URL with Gateway Image → Upload Image first.',
	bodyPath: 'source_url',
	shape: 'name',
	format: 'url',
	reasons: { format: 'sourceNotAUrl', file: 'sourceIsFile' },
};

const sourceUrlField: FieldSpec = { ...realSourceUrlField, required: true };

export const sourceUrlFields: INodeProperties[] = [
	{ ...toProperty(sourceUrlField), displayOptions: { show: { avatarKind: ['private'] } } },
	{ ...toProperty(realSourceUrlField), displayOptions: { hide: { avatarKind: ['private'] } } },
];

export const waitForActiveField: INodeProperties = {
	displayName: 'Wait Until Active',
	name: 'waitForActive',
	type: 'boolean',
	default: true,
	description: 'Whether to wait until the asset is active. Videos can use it only then.',
};

export const groupFieldOption: INodeProperties = {
	displayName: 'Group ID Body Field',
	name: 'groupIdBodyField',
	type: 'string',
	default: 'group_id',
	description: 'The name of the body field that contains the group ID',
};

/**
 * The body of the request, and the name of its group field. The contract does not show the body of a real avatar's
 * upload (4.6): Additional Fields can leave out what is assumed there, or give other values of it. Throws a `badInput` error that names the field.
 */
export function readUploadBody(item: Item, kind: AvatarKind): { body: JsonObject; groupIdName: string } {
	const groupIdName = readBodyFieldName(item.options, groupFieldOption);
	checkIsNoFile(item);
	item.givenChoice(assetTypeField);
	const isPrivate = kind === 'private';
	const open: Partial<FieldSpec> = isPrivate ? { alwaysSent: true } : { alwaysSent: false, extraValues: 'all' };
	const hasMore = Object.keys(item.options.json(additionalFieldsOption)).length > 0;
	const spec = toBodySpec([
		{ ...groupIdField, bodyPath: groupIdName },
		{ ...assetTypeField, ...open },
		{ ...sourceUrlField, ...open, required: isPrivate || !hasMore },
	]);
	return { body: readBody(item, spec), groupIdName };
}

function checkIsNoFile(item: Item): void {
	const [name, { displayName: label }] = [item.text(sourceUrlField), sourceUrlField];
	if (!isHttpUrl(name) && binaryFieldsOf(item).includes(name))
		throw gatewayError('sourceIsBinaryField', { label, name });
}
