import {
	NodeConnectionTypes,
	type IDataObject,
	type INodeExecutionData,
	type INodeType,
	type INodeTypeDescription,
	type IPollFunctions,
} from 'n8n-workflow';
import { toAccountBalance } from '../../core/account/balance';
import { parseWatchState, watchBalance, type BalanceThreshold } from '../../core/account/balanceWatch';
import { asGatewayError } from '../../core/errors';
import { createClient } from '../connection/createClient';
import { generationGatewayApiTest } from '../connection/credentialTest';
import { toNodeError } from '../errors/toNodeError';
import { unreadable } from '../errors/unreadable';
import { FieldReader } from '../form/fieldReader';
import { toFields, withoutEmpty } from '../run/output';
import { readThreshold, thresholdFields } from './fields';

export class BalanceTrigger implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Gateway Balance Trigger',
		name: 'balanceTrigger',
		icon: { light: 'file:../../icons/balance.svg', dark: 'file:../../icons/balance.dark.svg' },
		group: ['trigger'],
		version: 1,
		subtitle: '={{ "below " + $parameter["threshold"] + ($parameter["unit"] === "usd" ? " USD" : " credits") }}',
		// n8n lists this trigger and Gateway Balance as one entry, with this text.
		description: 'Checks the balance, and starts the workflow when it falls below a threshold',
		defaults: { name: 'Gateway Balance Trigger' },
		inputs: [],
		outputs: [NodeConnectionTypes.Main],
		polling: true,
		builderHint: {
			searchHint: 'Checks the balance itself, so do not add a schedule. Starts once when it falls below the threshold.',
			relatedNodes: [
				{
					nodeType: 'n8n-nodes-generation-gateway.balance',
					relationHint: 'Reads the balance at any time',
				},
			],
		},
		credentials: [{ name: 'generationGatewayApi', required: true, testedBy: 'generationGatewayApiTest' }],
		triggerPanel: {
			header: 'See the balance as it is now',
			executionsHelp: {
				inactive:
					'While you build the workflow, fetch a test event: it shows the balance as it is, whatever the threshold. Once the workflow is published, n8n checks the balance at the poll times, and the workflow starts when it falls below the threshold.',
				active:
					'n8n checks the balance at the poll times. The workflow starts when it falls below the threshold, and not again until it has recovered. A test event shows the balance as it is now.',
			},
			activationHint: 'Once the workflow is published, n8n checks the balance at the poll times.',
		},
		properties: thresholdFields,
	};

	methods = { credentialTest: { generationGatewayApiTest } };

	/** Throws when the balance could not be read: n8n shows it, and what is remembered stays. */
	async poll(this: IPollFunctions): Promise<INodeExecutionData[][] | null> {
		try {
			const threshold = thresholdOf(this);
			const balance = await (await createClient(this)).getUserBalance();
			const item: IDataObject = {
				...withoutEmpty(toAccountBalance(toFields(balance)) as IDataObject),
				threshold_credits: threshold.credits,
			};
			if (this.getMode() === 'manual') return [[{ json: item }]];

			const memory = this.getWorkflowStaticData('node');
			const { fires, state } = watchBalance(balance, threshold, parseWatchState(memory));
			delete memory.firedBelowCredits;
			delete memory.usedCredits;
			Object.assign(memory, withoutEmpty(state));
			return fires ? [[{ json: item }]] : null;
		} catch (thrown) {
			throw toNodeError(asGatewayError(thrown), { node: this.getNode(), itemIndex: 0 });
		}
	}
}

/** An expression that n8n cannot resolve is no bug of this package. */
function thresholdOf(context: IPollFunctions): BalanceThreshold {
	const form = new FieldReader((name) => context.getNodeParameter(name, null));
	const options = new FieldReader((name) => context.getNodeParameter(`options.${name}`, null));
	try {
		return readThreshold(form, options);
	} catch (thrown) {
		throw unreadable(thrown);
	}
}
