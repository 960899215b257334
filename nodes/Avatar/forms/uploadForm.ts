import type { INodeProperties } from 'n8n-workflow';
import type { AvatarKind } from '../../../core/avatars/records';
import { gatewayError } from '../../../core/errors';
import { mergeDeep, type JsonObject } from '../../../core/json';
import { MAX_ID_LENGTH } from '../../../core/orders/order';
import { show } from '../../../core/text';
import { isFileContent, isHttpUrl } from '../../../core/urls';
import { FieldReader, type ChoiceField, type TextField } from '../../form/fieldReader';
import { additionalFieldsOption } from '../../form/options';
import { binaryFieldsOf } from '../../generation/binaryImage';
import type { Item } from '../../run/item';
import { readBodyFieldName } from '../fields';

export const groupIdField: TextField = {
	displayName: 'Group ID',
	name: 'groupId',
	type: 'string',
	required: true,
	default: '',
	maxLength: MAX_ID_LENGTH,
	placeholder: 'e.g. {{ $json.group_id }}',
	description: 'The group_id that Group → Create or a passed verification returned',
};

export const assetTypeField: ChoiceField<'audio' | 'image' | 'video'> = {
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
};

export const sourceUrlField: INodeProperties = {
	displayName: 'Source URL',
	name: 'sourceUrl',
	type: 'string',
	required: true,
	default: '',
	placeholder: 'e.g. https://example.com/face.png',
	description:
		'A public URL of the file. For an image in a binary field, get a URL with Gateway Image → Upload Image first.',
};

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

/** The body of the request, and the name of its group field. Throws a `badInput` error that names the field. */
export function readUploadBody(item: Item, kind: AvatarKind): { body: JsonObject; groupIdName: string } {
	const groupIdName = readBodyFieldName(item.options, groupFieldOption);
	const form = {
		[groupIdName]: item.requiredText(groupIdField),
		asset_type: item.choice(assetTypeField),
		source_url: checkSourceUrl(item, item.requiredText(sourceUrlField)),
	};
	const body = mergeDeep(form, item.options.json(additionalFieldsOption));
	checkMerged(item, kind, body, groupIdName);
	return { body, groupIdName };
}

/**
 * Checks the body after Additional Fields. The contract does not show the body of a real avatar's upload (4.6): an
 * assumed field may be left out there.
 */
function checkMerged(item: Item, kind: AvatarKind, body: JsonObject, groupIdName: string): void {
	const sent = new FieldReader((name) => body[name]);
	const isChecked = (name: string) => kind === 'private' || body[name] !== undefined;
	if (body[groupIdName] !== undefined) sent.requiredText({ ...groupIdField, name: groupIdName });
	if (isChecked('asset_type')) {
		const assetType = { ...assetTypeField, name: 'asset_type' };
		sent.requiredText(assetType);
		sent.choice(assetType);
	}
	if (isChecked('source_url')) {
		sent.requiredText({ ...sourceUrlField, name: 'source_url' });
		checkSourceUrl(item, String(body.source_url));
	}
}

function checkSourceUrl(item: Item, url: string): string {
	if (isHttpUrl(url)) return url;
	const { displayName: label } = sourceUrlField;
	if (isFileContent(url)) throw gatewayError('sourceIsFile', { label });
	if (binaryFieldsOf(item).includes(url)) throw gatewayError('sourceIsBinaryField', { label, name: url });
	throw gatewayError('sourceNotAUrl', { label, value: show(url) });
}
