import {
	NodeConnectionTypes,
	type IDataObject,
	type INodeExecutionData,
	type INodeType,
	type INodeTypeDescription,
	type IPollFunctions,
} from 'n8n-workflow';
import { remainUsd } from '../../core/account/balance';
import { toCredits, watchBalance, type BalanceWatchState } from '../../core/account/balanceWatch';
import { asGatewayError } from '../../core/errors';
import { createClient } from '../connection/createClient';
import { generationGatewayApiTest } from '../connection/credentialTest';
import { optionsCollection } from '../form/options';
import { readNumber, readRequiredNumber } from '../form/readParameters';
import { toNodeError } from '../run/toNodeError';

export class BalanceTrigger implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Gateway Balance Trigger',
		name: 'balanceTrigger',
		icon: { light: 'file:../../icons/balance.svg', dark: 'file:../../icons/balance.dark.svg' },
		group: ['trigger'],
		version: 1,
		subtitle: '={{ "below " + $parameter["threshold"] + ($parameter["unit"] === "usd" ? " USD" : " credits") }}',
		// n8n lists this trigger and Gateway Balance as one entry, with this text.
		description: 'Reads what the account has left, or starts the workflow when it falls below a threshold',
		defaults: { name: 'Gateway Balance Trigger' },
		inputs: [],
		outputs: [NodeConnectionTypes.Main],
		polling: true,
		credentials: [
			{ name: 'generationGatewayApi', required: true, testedBy: 'generationGatewayApiTest' },
		],
		properties: [
			{
				displayName: 'Starts once when the balance falls below the threshold, and again only after it has been above. An account without a limit never starts it. A manual run shows the balance as it is.',
				name: 'balanceNotice',
				type: 'notice',
				default: '',
			},
			{
				displayName: 'Threshold',
				name: 'threshold',
				type: 'number',
				typeOptions: { minValue: 0 },
				default: 1000,
				description: 'Start when less than this is left',
			},
			{
				displayName: 'Unit',
				name: 'unit',
				type: 'options',
				options: [
					{ name: 'Credits', value: 'credits', description: '200 credits are 1 USD' },
					{ name: 'USD', value: 'usd', description: '1 USD is 200 credits' },
				],
				default: 'credits',
				description: 'What the threshold is counted in',
			},
			optionsCollection([
				{
					displayName: 'Re-Arm Margin',
					name: 'margin',
					type: 'number',
					typeOptions: { minValue: 0 },
					default: 0,
					description: 'How far above the threshold the balance must rise before the next fall counts, in the same unit',
				},
			]),
		],
	};

	methods = { credentialTest: { generationGatewayApiTest } };

	/** Throws when the balance could not be read: n8n shows it, and what is remembered stays. */
	async poll(this: IPollFunctions): Promise<INodeExecutionData[][] | null> {
		try {
			const threshold = readThreshold(this);
			const balance = await (await createClient(this)).getUserBalance();
			const item = { ...(balance as IDataObject), remain_usd: remainUsd(balance), threshold_credits: threshold.credits };
			if (this.getMode() === 'manual') return [[{ json: item }]];

			const memory = this.getWorkflowStaticData('node');
			const { fires, state } = watchBalance(balance, threshold, memory as BalanceWatchState);
			if (state.firedBelowCredits === undefined) delete memory.firedBelowCredits;
			else memory.firedBelowCredits = state.firedBelowCredits;
			return fires ? [[{ json: item }]] : null;
		} catch (thrown) {
			throw toNodeError(this.getNode(), asGatewayError(thrown), 0);
		}
	}
}

function readThreshold(context: IPollFunctions) {
	const unit = context.getNodeParameter('unit', 'credits') === 'usd' ? 'usd' : 'credits';
	const options = context.getNodeParameter('options', {}) as IDataObject;
	return {
		credits: toCredits(readRequiredNumber(context.getNodeParameter('threshold', 1000), 'Threshold', 0), unit),
		marginCredits: toCredits(readNumber(options.margin, 'Re-Arm Margin', 0, 0), unit),
	};
}
