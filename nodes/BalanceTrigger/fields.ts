import type { INodeProperties } from 'n8n-workflow';
import type { ChoiceField } from '../form/fieldReader';
import { docsLink } from '../form/docsLink';
import { optionsCollection } from '../form/options';

const eventField: INodeProperties = {
	displayName: 'Event',
	name: 'event',
	type: 'options',
	noDataExpression: true,
	options: [
		{
			name: 'Balance Falls Below Threshold',
			value: 'balanceBelow',
			description: 'The balance of the account falls below the threshold',
			action: 'On balance below threshold',
		},
	],
	default: 'balanceBelow',
	description: 'What starts the workflow',
};

const balanceNotice: INodeProperties = {
	displayName: `Starts the workflow once when the balance falls below the threshold, and not again until it has recovered. ${docsLink('nodes/balance-trigger.md')}`,
	name: 'balanceNotice',
	type: 'notice',
	default: '',
};

export const thresholdField: INodeProperties = {
	displayName: 'Threshold',
	name: 'threshold',
	type: 'number',
	default: 1000,
	description: 'Start the workflow when the balance is below this value',
};

export const unitField: ChoiceField<'credits' | 'usd'> = {
	displayName: 'Threshold Unit',
	name: 'unit',
	type: 'options',
	options: [
		{ name: 'Credits', value: 'credits', description: '200 credits are 1 USD' },
		{ name: 'USD', value: 'usd', description: '1 USD is 200 credits' },
	],
	default: 'credits',
	description: 'The unit of the threshold',
};

export const marginOption: INodeProperties = {
	displayName: 'Recovery Margin',
	name: 'margin',
	type: 'number',
	default: 0,
	description: 'How far above the threshold the balance must rise before the trigger can start again, in the same unit',
};

export const thresholdFields: INodeProperties[] = [
	eventField,
	balanceNotice,
	thresholdField,
	unitField,
	optionsCollection([marginOption]),
];
