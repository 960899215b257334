import type { INodeProperties } from 'n8n-workflow';
import { docsLink, unitField } from '../form/fields';

/** Its only choice needs no field. The node creator takes the line of the trigger from it. */
const eventField: INodeProperties = {
	displayName: 'Event',
	name: 'event',
	type: 'hidden',
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
	displayName: `Starts the workflow once when the balance falls below the threshold, and not again until it has recovered. ${docsLink('reference/balance-trigger.md')}`,
	name: 'balanceNotice',
	type: 'notice',
	default: '',
};

export const thresholdField: INodeProperties = {
	displayName: 'Threshold',
	name: 'threshold',
	type: 'number',
	default: 5,
	description: 'Start the workflow when the balance is below this value',
};

export const thresholdFields: INodeProperties[] = [eventField, balanceNotice, thresholdField, unitField];
