import type { IDisplayOptions, INodeProperties } from 'n8n-workflow';
import type { AvatarKind } from '../../core/avatars/records';
import { gatewayError } from '../../core/errors';
import { MAX_ID_LENGTH } from '../../core/orders/order';
import type { ChoiceField, FieldReader, NumberField, TextField } from '../form/fieldReader';
import { timeoutOption } from '../form/options';

/** Fields that several operations of the node share. */
export const avatarKindField: ChoiceField<AvatarKind> = {
	displayName: 'Avatar Kind',
	name: 'avatarKind',
	type: 'options',
	options: [
		{ name: 'Private', value: 'private', description: 'A made-up person. The group comes from Group → Create.' },
		{
			name: 'Real',
			value: 'real',
			description: 'A real person who has passed a verification. The group comes from the verification.',
		},
	],
	default: 'private',
	description: 'Whether the person is made up or real',
};

export const assetIdField: TextField = {
	displayName: 'Asset ID',
	name: 'assetId',
	type: 'string',
	required: true,
	default: '',
	maxLength: MAX_ID_LENGTH,
	placeholder: 'e.g. {{ $json.asset_id }}',
	description: 'The asset_id that Upload returned',
};

export const verificationIdField: TextField = {
	displayName: 'Task ID',
	name: 'verificationId',
	type: 'string',
	required: true,
	default: '',
	maxLength: MAX_ID_LENGTH,
	placeholder: 'e.g. {{ $json.task_id }}',
	description: 'The task_id that Verification → Create returned',
};

export const waitForActiveField: INodeProperties = {
	displayName: 'Wait Until Active',
	name: 'waitForActive',
	type: 'boolean',
	default: true,
	description: 'Whether to wait until the asset is active. Videos can use it only then.',
};

const whenWaiting = (field: INodeProperties): IDisplayOptions => ({ show: { [`/${field.name}`]: [true] } });

/** Of an operation that waits if the switch is on. */
export const timeoutOf = (waitField: INodeProperties, minutes: number): NumberField => ({
	...timeoutOption(minutes),
	description: 'How long to wait. After that, the item ends with an error that has the ID.',
	displayOptions: whenWaiting(waitField),
});

export const assetTimeoutOption = timeoutOf(waitForActiveField, 10);

/** The asset ID, which may also be given as the reference that videos take. */
export function readAssetId(form: FieldReader): string {
	const id = form.requiredText(assetIdField).replace(/^asset:\/\//, '');
	if (id === '') throw gatewayError('fieldEmpty', { label: assetIdField.displayName });
	return id;
}
