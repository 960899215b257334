import type { IDataObject, INodeProperties } from 'n8n-workflow';
import { remainUsd } from '../../../core/account/balance';
import { gatewayError } from '../../../core/errors';
import type { JsonObject } from '../../../core/json';
import { formError } from '../../errors/formErrors';
import { includeInputOption, optionsCollection } from '../../form/options';
import type { Operation } from '../../run/operation';

const stopBelowOption: INodeProperties = {
	displayName: 'Stop Below (Credits)',
	name: 'stopBelowCredits',
	type: 'number',
	typeOptions: { minValue: 0 },
	default: 1000,
	description: 'Stop the workflow when fewer credits are left. An account without a limit is never stopped.',
};

/** Get User Balance: what the account has left (contract 4.1), and the guard to put before a costly batch. */
export const getUserBalance: Operation = {
	option: {
		name: 'Get User Balance',
		value: 'getUserBalance',
		description: 'Get what the account has left and has used',
		action: 'Get the user balance',
	},
	properties: [optionsCollection([includeInputOption, stopBelowOption])],
	prepare: ({ options }, run) => {
		const wanted = options.has(stopBelowOption) ? options.requiredNumber(stopBelowOption) : undefined;
		return async () => {
			const balance = await run.shared('user balance', async () => await run.client.getUserBalance());
			if (wanted !== undefined) checkCredits(balance, wanted);
			return { json: { ...(balance as IDataObject), remain_usd: remainUsd(balance) } };
		};
	},
};

/** Throws when fewer credits are left than wanted. An account without a limit always has enough. */
function checkCredits({ remain_credits: credits, unlimited_quota: unlimited }: JsonObject, wanted: number): void {
	if (unlimited === true) return;
	if (typeof credits !== 'number') throw gatewayError('creditsUnknown', {});
	if (credits < wanted) throw formError('creditsBelow', { credits, wanted });
}
