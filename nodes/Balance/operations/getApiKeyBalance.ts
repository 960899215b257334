import type { IDataObject } from 'n8n-workflow';
import { toKeyBalance } from '../../../core/account/balance';
import { includeInputOption, optionsCollection } from '../../form/options';
import type { Operation } from '../../run/operation';
import { toFields, withoutEmpty } from '../../run/output';

/** Get Token Balance: what the API key of the credential has left (contract 4.2), in the words of the service. */
export const getTokenBalance: Operation = {
	option: {
		name: 'Get API Key Balance',
		value: 'getTokenBalance',
		description: 'Get the remaining and used balance of the API key',
		action: 'Get API key balance',
	},
	properties: [optionsCollection([includeInputOption])],
	describes: 'balance',
	prepare: (_, run) => ({
		read: async () => ({
			json: withoutEmpty(
				toKeyBalance(
					toFields(await run.shared('token balance', async () => await run.client.getTokenBalance())),
				) as IDataObject,
			),
		}),
	}),
};
