import type { IDataObject, INodeProperties } from 'n8n-workflow';
import { fromCredits, toAccountBalance, toCredits } from '../../../core/account/balance';
import { gatewayError } from '../../../core/errors';
import type { JsonObject } from '../../../core/json';
import { docsLink, hiddenInTools, unitField } from '../../form/fields';
import type { Item, JobOutput } from '../../run/inputItem';
import type { Operation } from '../../run/operation';
import { looksFailed, onErrorOf, toFields, toPassOn, withoutEmpty } from '../../run/toItem';

const unitNotice: INodeProperties = {
	displayName: `Compare credits: remain_balance is in the display unit of the service, which may be USD, CNY or tokens. ${docsLink('reference/balance.md')}`,
	name: 'unitNotice',
	type: 'notice',
	default: '',
};

const stopIfBelowField: INodeProperties = {
	displayName: 'Stop If Below',
	name: 'stopIfBelow',
	// Text, so that it can be empty.
	type: 'string',
	default: '',
	placeholder: 'e.g. 5',
	description:
		'Stop the workflow if the account has less than this amount; otherwise pass the items on as they are. An account without a limit never stops it. Leave empty to get the balance.',
	builderHint: {
		propertyHint: 'Set it to put this node before Generate: the items and their files then pass through unchanged.',
	},
	displayOptions: hiddenInTools,
};

/** The unit of an amount that is not there would be a question without a meaning. */
const stopUnitField = {
	...unitField,
	displayOptions: { hide: { ...hiddenInTools?.hide, stopIfBelow: [''] } },
};

/** Get Account Balance: what the account has left (contract 4.1), or the guard to put before a costly batch. */
export const getAccountBalance: Operation = {
	option: {
		name: 'Get Account Balance',
		value: 'getAccountBalance',
		description: 'Get the remaining and used balance of the account, or stop the workflow if too little is left',
		action: 'Get account balance',
	},
	properties: [unitNotice, stopIfBelowField, stopUnitField],
	prepare: (item, run) => {
		const guard = readGuard(item);
		const read = async (): Promise<JobOutput> => {
			const balance = await run.shared('user balance', async () => await run.client.getUserBalance());
			if (guard === undefined) return { json: withoutEmpty(toAccountBalance(toFields(balance)) as IDataObject) };
			checkBalance(balance, guard);
			const { json: given, binary } = item.input;
			const json = onErrorOf(run.context) === 'continueErrorOutput' && looksFailed(given) ? toPassOn(given) : given;
			return binary === undefined ? { json } : { json, binary };
		};
		return guard === undefined ? { run: read } : { run: read, passedOn: item.input };
	},
};

interface Guard {
	wanted: number;
	unit: typeof unitField.default;
}

/** Undefined where the field is empty. An amount of 0 is one: only a balance below 0 stops the workflow then. */
function readGuard(item: Item): Guard | undefined {
	if (item.given(stopIfBelowField) === undefined) return undefined;
	return { wanted: item.requiredNumber(stopIfBelowField), unit: item.givenChoice(unitField) };
}

/** Throws when less is left than wanted. An account without a limit always has enough. */
function checkBalance(
	{ remain_credits: credits, unlimited_quota: unlimited }: JsonObject,
	{ wanted, unit }: Guard,
): void {
	if (unlimited === true) return;
	if (typeof credits !== 'number') throw gatewayError('creditsUnknown', {});
	if (credits >= toCredits(wanted, unit)) return;
	throw gatewayError('creditsBelowLimit', { left: fromCredits(credits, unit), wanted, unit });
}
