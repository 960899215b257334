import type { IDataObject, INodeProperties } from 'n8n-workflow';
import { toAccountBalance } from '../../../core/account/balance';
import { gatewayError } from '../../../core/errors';
import type { JsonObject } from '../../../core/json';
import { docsLink } from '../../form/docsLink';
import { includeInputOption, optionsCollection } from '../../form/options';
import type { Operation } from '../../run/operation';
import { toFields, withoutEmpty } from '../../run/output';

const unitNotice: INodeProperties = {
	displayName: `Compare credits: remain_balance is in the display unit of the service, which may be USD, CNY or tokens. ${docsLink('nodes/balance.md')}`,
	name: 'unitNotice',
	type: 'notice',
	default: '',
};

const stopBelowOption: INodeProperties = {
	displayName: 'Stop If Below (Credits)',
	name: 'stopBelowCredits',
	type: 'number',
	default: 1000,
	description: 'Stop the workflow if there are fewer credits. An account without a limit never stops it.',
};

/** Get User Balance: what the account has left (contract 4.1), and the guard to put before a costly batch. */
export const getUserBalance: Operation = {
	option: {
		name: 'Get User Balance',
		value: 'getUserBalance',
		description: 'Get the remaining and used balance of the account, in credits and in the display unit of the service',
		action: 'Get user balance',
	},
	properties: [unitNotice, optionsCollection([includeInputOption, stopBelowOption])],
	describes: 'balance',
	prepare: ({ options }, run) => {
		const wanted = options.has(stopBelowOption) ? options.requiredNumber(stopBelowOption) : undefined;
		const read = async () => {
			const balance = await run.shared('user balance', async () => await run.client.getUserBalance());
			if (wanted !== undefined) checkCredits(balance, wanted);
			return { json: withoutEmpty(toAccountBalance(toFields(balance)) as IDataObject) };
		};
		return { read };
	},
};

/** Throws when fewer credits are left than wanted. An account without a limit always has enough. */
function checkCredits({ remain_credits: credits, unlimited_quota: unlimited }: JsonObject, wanted: number): void {
	if (unlimited === true) return;
	if (typeof credits !== 'number') throw gatewayError('creditsUnknown', {});
	if (credits < wanted) throw gatewayError('creditsBelowLimit', { credits, wanted });
}
