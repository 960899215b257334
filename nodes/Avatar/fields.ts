import type { IDataObject, IExecuteFunctions, INodeProperties } from 'n8n-workflow';
import type { AvatarKind } from '../../core/avatars/records';
import { GatewayError } from '../../core/errors';
import { show } from '../../core/models/issues';
import { readBoolean, readChoice, readRequiredText } from '../form/readParameters';

/** Fields that several operations of the node share, and how they are read. */
export const avatarKindField: INodeProperties = {
	displayName: 'Avatar Kind',
	name: 'avatarKind',
	type: 'options',
	options: [
		{ name: 'Private', value: 'private', description: 'A made-up person: the group comes from Group → Create' },
		{ name: 'Real', value: 'real', description: 'A real person, who has passed a verification: the group comes from there' },
	],
	default: 'private',
	description: 'Whose avatar it is',
};

export const assetIdField: INodeProperties = {
	displayName: 'Asset ID',
	name: 'assetId',
	type: 'string',
	required: true,
	default: '',
	placeholder: 'e.g. {{ $json.asset_id }}',
	description: 'The asset_id that Upload returned',
};

export const verificationIdField: INodeProperties = {
	displayName: 'Task ID',
	name: 'verificationId',
	type: 'string',
	required: true,
	default: '',
	placeholder: 'e.g. {{ $json.task_id }}',
	description: 'The task_id that Verification → Create returned',
};

export const submitAgainOption: INodeProperties = {
	displayName: 'Submit Again',
	name: 'submitAgain',
	type: 'boolean',
	default: false,
	description: 'Whether a retry may submit a request again of which it is unknown whether the service accepted it',
};

export const timeoutOption: INodeProperties = {
	displayName: 'Timeout (Minutes)',
	name: 'timeoutMinutes',
	type: 'number',
	typeOptions: { minValue: 0 },
	default: 10,
	description: 'How long to wait',
};

export function readAvatarKind(context: IExecuteFunctions, itemIndex: number): AvatarKind {
	return readChoice(context, itemIndex, avatarKindField) as AvatarKind;
}

export function readAssetId(context: IExecuteFunctions, itemIndex: number): string {
	const id = readRequiredText(context, itemIndex, assetIdField, 'Enter the asset_id that Upload returned.');
	return id.replace(/^asset:\/\//, '');
}

export function readVerificationId(context: IExecuteFunctions, itemIndex: number): string {
	return readRequiredText(context, itemIndex, verificationIdField, 'Enter the task_id that Verification → Create returned.');
}

export function readItemOptions(context: IExecuteFunctions, itemIndex: number): IDataObject {
	return context.getNodeParameter('options', itemIndex, {}) as IDataObject;
}

export function readSubmitAgain(context: IExecuteFunctions, itemIndex: number): boolean {
	return readBoolean(context, itemIndex, submitAgainOption, 'options.submitAgain');
}

/** The name of a body field that the contract does not show, which an option can override. */
export function readFieldName(value: unknown, label: string, assumed: string): string {
	if (value === undefined || value === '') return assumed;
	if (typeof value === 'string' && /^[A-Za-z_]\w*$/.test(value.trim())) return value.trim();
	throw new GatewayError('badInput', `${label} is ${show(value)}, which is not the name of a field`, {
		field: label,
		description: `Enter a name of letters, digits and underscores, e.g. ${assumed}. Nothing was sent.`,
	});
}
