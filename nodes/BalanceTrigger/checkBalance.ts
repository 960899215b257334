import type { IDataObject, INodeExecutionData, IPollFunctions, INodeProperties } from 'n8n-workflow';
import { fromCredits, toAccountBalance, toCredits } from '../../core/account/balance';
import { parseWatchState, watchBalance, watchStateKeys } from '../../core/account/balanceWatch';
import type { GatewayClient } from '../../core/client';
import { asGatewayError, GatewayError } from '../../core/errors';
import { createClient } from '../connection/createClient';
import { credentialIdOf } from '../connection/transport';
import { toNodeError } from '../errors/toNodeError';
import { FieldReader } from '../form/fieldReader';
import { unitField, docsLink } from '../form/fields';
import { toFields, withoutEmpty } from '../run/toItem';

/** Its only choice needs no field. The node creator takes the line of the trigger from it. */
const eventField: INodeProperties = {
	displayName: 'Event',
	name: 'event',
	type: 'hidden',
	noDataExpression: true,
	options: [
		{
			name: 'Balance Falls Below Threshold',
			value: 'balanceBelow',
			description: 'The balance of the account falls below the threshold',
			action: 'On balance below threshold',
		},
	],
	default: 'balanceBelow',
	description: 'What starts the workflow',
};

const balanceNotice: INodeProperties = {
	displayName: `Starts the workflow once when the balance falls below the threshold, and not again until it has recovered. ${docsLink('reference/balance-trigger.md')}`,
	name: 'balanceNotice',
	type: 'notice',
	default: '',
};

const thresholdField: INodeProperties = {
	displayName: 'Threshold',
	name: 'threshold',
	type: 'number',
	default: 5,
	description: 'Start the workflow when the balance is below this value',
};

export const thresholdFields: INodeProperties[] = [eventField, balanceNotice, thresholdField, unitField];

/** One poll: the item that starts the workflow, or null. Throws, and forgets nothing, where the balance is not read. */
export async function checkBalance(context: IPollFunctions): Promise<INodeExecutionData[][] | null> {
	const { thresholdCredits, client } = await prepare(context);
	try {
		const balance = await client.getUserBalance();
		const shown: Record<string, unknown> = {
			...toAccountBalance(toFields(balance)),
			threshold_credits: thresholdCredits,
			threshold_usd: fromCredits(thresholdCredits, 'usd'),
		};
		const items = [[{ json: withoutEmpty(shown as IDataObject) }]];
		if (context.getMode() === 'manual') return items;

		const memory = context.getWorkflowStaticData('node');
		// n8n keeps the static data of a node when its credential is exchanged.
		const account = credentialIdOf(context.getNode());
		const { fires, state } = watchBalance(balance, thresholdCredits, parseWatchState(memory, account));
		for (const key of watchStateKeys) delete memory[key];
		Object.assign(memory, state, { account });
		return fires ? items : null;
	} catch (thrown) {
		throw inN8n(context, asGatewayError(thrown));
	}
}

function inN8n(context: IPollFunctions, error: GatewayError): Error {
	return toNodeError(error, { node: context.getNode(), itemIndex: 0 });
}

/**
 * Throws n8n's own error where n8n cannot read the credential: that is no bug of this package, and as it may pass, it
 * must not name a cause for which n8n polls less often.
 */
async function prepare(context: IPollFunctions): Promise<{ thresholdCredits: number; client: GatewayClient }> {
	try {
		return { thresholdCredits: readThreshold(context), client: await createClient(context) };
	} catch (thrown) {
		throw thrown instanceof GatewayError ? inN8n(context, thrown) : thrown;
	}
}

function readThreshold(context: IPollFunctions): number {
	const form = new FieldReader((name) => context.getNodeParameter(name, null), context.getNode().parameters);
	const unit = form.givenChoice(unitField);
	return toCredits(form.requiredNumber(thresholdField), unit);
}
