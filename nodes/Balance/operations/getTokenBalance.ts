import { includeInputOption, optionsCollection } from '../../form/options';
import type { Operation } from '../../run/operation';
import { toFields } from '../../run/output';

/** Get Token Balance: what the API key of the credential has left (contract 4.2), as the service puts it. */
export const getTokenBalance: Operation = {
	option: {
		name: 'Get Token Balance',
		value: 'getTokenBalance',
		description: 'Get the remaining and used balance of the API key',
		action: 'Get token balance',
	},
	properties: [optionsCollection([includeInputOption])],
	prepare: (_, run) => ({
		read: async () => ({
			json: toFields(await run.shared('token balance', async () => await run.client.getTokenBalance())),
		}),
	}),
};
