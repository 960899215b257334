import type { IDataObject, INodeExecutionData, IPollFunctions } from 'n8n-workflow';
import { toAccountBalance } from '../../core/account/balance';
import { parseWatchState, toCredits, watchBalance, type BalanceThreshold } from '../../core/account/balanceWatch';
import { asGatewayError } from '../../core/errors';
import { createClient } from '../connection/createClient';
import { toNodeError } from '../errors/toNodeError';
import { unreadable } from '../errors/unreadable';
import { FieldReader } from '../form/fieldReader';
import { toFields, withoutEmpty } from '../run/output';
import { marginOption, thresholdField, unitField } from './fields';

/**
 * One poll of the balance: the item that starts the workflow, or null. Throws when the balance could not be read: n8n
 * shows it, and what is remembered stays.
 */
export async function checkBalance(context: IPollFunctions): Promise<INodeExecutionData[][] | null> {
	try {
		const threshold = readThreshold(context);
		const balance = await (await createClient(context)).getUserBalance();
		const shown: Record<string, unknown> = {
			...toAccountBalance(toFields(balance)),
			threshold_credits: threshold.credits,
		};
		const items = [[{ json: withoutEmpty(shown as IDataObject) }]];
		if (context.getMode() === 'manual') return items;

		const memory = context.getWorkflowStaticData('node');
		const { fires, state } = watchBalance(balance, threshold, parseWatchState(memory));
		delete memory.firedBelowCredits;
		delete memory.usedCredits;
		Object.assign(memory, withoutEmpty(state));
		return fires ? items : null;
	} catch (thrown) {
		throw toNodeError(asGatewayError(thrown), { node: context.getNode(), itemIndex: 0 });
	}
}

/** An expression that n8n cannot resolve is no bug of this package. */
function readThreshold(context: IPollFunctions): BalanceThreshold {
	const form = new FieldReader((name) => context.getNodeParameter(name, null));
	const options = new FieldReader((name) => context.getNodeParameter(`options.${name}`, null));
	try {
		const unit = form.choice(unitField);
		return {
			credits: toCredits(form.requiredNumber(thresholdField), unit),
			marginCredits: toCredits(options.number(marginOption), unit),
		};
	} catch (thrown) {
		throw unreadable(thrown);
	}
}
