import type { IDataObject } from 'n8n-workflow';
import { prepareRun } from '../../run/run';
import type { Operation } from '../../run/operation';
import { includeInputOption, optionsCollection } from '../../form/options';
import { runItems } from '../../run/runItems';

/** Get Token Balance: what the API key of the credential has left (contract 4.2), as the service puts it. */
export const getTokenBalance: Operation = {
	option: {
		name: 'Get Token Balance',
		value: 'getTokenBalance',
		description: 'Get what the API key has left and has used',
		action: 'Get the token balance',
	},
	properties: [optionsCollection([includeInputOption])],
	execute: async (context) => {
		const { client } = await prepareRun(context);
		let reading: Promise<Record<string, unknown>> | undefined;
		return await runItems(context, {
			prepare: () => ({
				run: async () => ({ json: (await (reading ??= client.getTokenBalance())) as IDataObject }),
			}),
		});
	},
};
