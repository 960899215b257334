import type { IDataObject } from 'n8n-workflow';
import { checkCredits, remainUsd } from '../../../core/account/balance';
import { readRequiredNumber } from '../../form/readParameters';
import { prepareRun } from '../../run/run';
import type { Operation } from '../../run/operation';
import { includeInputOption, optionsCollection } from '../../form/options';
import { runItems } from '../../run/runItems';

/** Get User Balance: what the account has left (contract 4.1), and the guard to put before a costly batch. */
export const getUserBalance: Operation = {
	option: {
		name: 'Get User Balance',
		value: 'getUserBalance',
		description: 'Get what the account has left and has used',
		action: 'Get the user balance',
	},
	properties: [
		optionsCollection([
			includeInputOption,
			{
				displayName: 'Stop Below (Credits)',
				name: 'stopBelowCredits',
				type: 'number',
				typeOptions: { minValue: 0 },
				default: 1000,
				description: 'Stop the workflow when fewer credits are left. An account without a limit is never stopped.',
			},
		]),
	],
	execute: async (context) => {
		const { client } = await prepareRun(context);
		// All items of a run are about the same account: it is read once.
		let reading: Promise<Record<string, unknown>> | undefined;
		return await runItems(context, {
			prepare: (itemIndex) => {
				const options = context.getNodeParameter('options', itemIndex, {}) as IDataObject;
				const stopBelowCredits = 'stopBelowCredits' in options ? readRequiredNumber(options.stopBelowCredits, 'Stop Below (Credits)', 0) : undefined;
				return {
					run: async () => {
						const balance = await (reading ??= client.getUserBalance());
						if (stopBelowCredits !== undefined) checkCredits(balance, stopBelowCredits);
						return { json: { ...(balance as IDataObject), remain_usd: remainUsd(balance) } };
					},
				};
			},
		});
	},
};
