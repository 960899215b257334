import type { IDataObject } from 'n8n-workflow';
import { toKeyBalance } from '../../../core/account/balance';
import type { Operation } from '../../run/operation';
import { toFields, withoutEmpty } from '../../run/toItem';

/** Get API Key Balance: what the API key of the credential has left (contract 4.2), in the words of the service. */
export const getApiKeyBalance: Operation = {
	option: {
		name: 'Get API Key Balance',
		value: 'getApiKeyBalance',
		description: 'Get the remaining and used balance of the API key',
		action: 'Get API key balance',
	},
	properties: [],
	prepare: (_, run) => ({
		run: async () => ({
			json: withoutEmpty(
				toKeyBalance(
					toFields(await run.shared('token balance', async () => await run.client.getTokenBalance())),
				) as IDataObject,
			),
		}),
	}),
};
