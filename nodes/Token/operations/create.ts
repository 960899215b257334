import { DateTime } from 'luxon';
import type { IDataObject, IExecuteFunctions, INodeExecutionData, INodeProperties } from 'n8n-workflow';
import { GatewayError } from '../../../core/errors';
import { show } from '../../../core/models/issues';
import { parseJsonField } from '../../../core/models/toBody';
import { TaskLedger } from '../../../core/tasks/ledger';
import { toTokenBody, type QuotaUnit, type TokenRecord } from '../../../core/account/tokens';
import { createOnce } from '../../run/purchase';
import { prepareRun } from '../../run/run';
import { readLedgerScope } from '../../run/ledgerScope';
import type { Operation } from '../../run/operation';
import { readBoolean, readChoice, readText, toText } from '../../form/readParameters';
import { runItems, type ItemJob } from '../../run/runItems';
import { TaskLog } from '../../run/taskLog';
import { createAgainOption, expiresAtField, expiryField, nameField, properties, quotaField, unitField } from '../fields';

/** Create: a token with its own quota, expiry and models (contract 4.3). */
export const create: Operation = {
	option: {
		name: 'Create',
		value: 'create',
		description: 'Create a token, and get its key',
		action: 'Create a token',
	},
	properties,
	execute: async (context) => await createTokens(context),
};

/**
 * Keys of a run that has not ended well yet, for Retry On Fail: they are shown once, so a second try hands out
 * what the first one got. In memory only, by the node context of the execution.
 */
const createdTokens = new WeakMap<object, Map<string, TokenRecord>>();

async function createTokens(context: IExecuteFunctions): Promise<INodeExecutionData[]> {
	const { client } = await prepareRun(context);
	const scope = readLedgerScope(context);
	const ledger = new TaskLedger(scope);
	const log = new TaskLog(context);
	const created = createdTokens.get(scope.store) ?? new Map<string, TokenRecord>();
	createdTokens.set(scope.store, created);

	const output = await runItems(context, {
		prepare: (itemIndex): ItemJob => {
			const options = context.getNodeParameter('options', itemIndex, {}) as IDataObject;
			const body = readForm(context, itemIndex, options);
			const submitAgain = readBoolean(context, itemIndex, createAgainOption, 'options.submitAgain');
			const key = `${scope.runIndex}.${itemIndex}`;
			const job: ItemJob = {
				run: async (controls) => {
					const id = await createOnce(
						{
							ledger,
							log,
							itemIndex,
							thing: 'token',
							body,
							submitAgain,
							create: async (noRepeat) => {
								const record = await client.createToken(body, noRepeat);
								created.set(key, record);
								return record.id;
							},
							isUsable: () => created.has(key) || !submitAgain,
						},
						controls,
					);
					// The ID is needed to delete it when another item ends the run: the key is then in no output.
					if (id !== '') job.task = { taskId: id, status: 'created', elapsedMs: 0 };
					const token = created.get(key);
					if (token === undefined) throw keyGone(String(body.name), id);
					return { json: { ...(token.raw as IDataObject), api_key: token.apiKey } };
				},
			};
			return job;
		},
		onSuccess: () => {
			ledger.clearRun();
			createdTokens.delete(scope.store);
		},
	});
	if (output.some(({ json }) => json.api_key !== undefined)) {
		context.addExecutionHints?.({
			message: 'The service shows api_key only this once: store it now.',
			location: 'outputPane',
		});
	}
	return output;
}

function readForm(context: IExecuteFunctions, itemIndex: number, options: IDataObject) {
	const parameter = (name: string) => context.getNodeParameter(name, itemIndex, null) as unknown;
	const choice = (field: INodeProperties) => readChoice(context, itemIndex, field);
	const limited = choice(quotaField) === 'limited';
	return toTokenBody(
		{
			name: readText(context, itemIndex, nameField),
			expiresAtMs: choice(expiryField) === 'date' ? readDate(parameter('expiresAt'), context.getTimezone()) : undefined,
			quota: limited ? { unit: choice(unitField) as QuotaUnit, amount: parameter('amount') } : undefined,
			modelLimits: [parameter('allowedModels'), parameter('otherModels')].flatMap((value) => value ?? []),
			dailyCredits: options.dailyCredits,
			monthlyCredits: options.monthlyCredits,
			group: toText(options.group, 'Channel Group'),
		},
		parseJsonField('Additional Fields (JSON)', options.additionalFields),
		Date.now(),
	);
}

/** Unix milliseconds of a date from the picker (without a zone: the workflow's), or from an expression. */
function readDate(value: unknown, timeZone: string): number {
	const text = value instanceof Date ? value.toISOString() : value;
	const date = DateTime.isDateTime(value) ? value : DateTime.fromISO(String(text ?? '').trim().replace(' ', 'T'), { zone: timeZone });
	if (date.isValid) return date.toMillis();
	const { displayName } = expiresAtField;
	const empty = value === null || value === undefined || value === '';
	throw new GatewayError('badInput', empty ? `${displayName} is empty` : `${displayName} is ${show(value)}, which is not a date`, {
		field: displayName,
		description: 'Choose a date and time, e.g. 2030-01-31T12:00:00, or Never as expiry. Nothing was sent.',
	});
}

function keyGone(name: string, id: string): GatewayError {
	return new GatewayError('outcomeUnknown', `The token "${name}" was created in an earlier try, and its key was shown only then`, {
		description: `Delete the token${id && ` with the ID ${id}`} in your account, turn on Submit Again in the options, save, and retry this execution with the currently saved workflow: then it is created anew.`,
	});
}
