import { tryToParseDateTime, type IDataObject } from 'n8n-workflow';
import type { TokenRecord } from '../../../core/records/accountRecords';
import { show } from '../../../core/text';
import { formError } from '../../errors/formErrors';
import { additionalFieldsOption } from '../../form/options';
import { HINTS } from '../../run/hints';
import type { Item } from '../../run/item';
import type { Operation } from '../../run/operation';
import { purchase } from '../../run/purchase';
import * as fields from '../fields';
import { LATEST_SECONDS } from '../checkTokenBody';
import { hasNothingToSpend, toTokenBody } from '../tokenBody';

/** Create: a token with its own quota, expiry and models (contract 4.3). */
export const create: Operation = {
	option: {
		name: 'Create',
		value: 'create',
		description: 'Create a token, and get its key',
		action: 'Create a token',
	},
	properties: fields.properties,
	prepare: (item, run) => {
		const body = readBody(item);
		const submitAgain = item.options.flag(fields.createAgainOption);
		const created = createdTokens(run.ledger.scope.store);
		const key = `${run.ledger.scope.runIndex}.${item.index}`;
		return async (controls) => {
			const { id } = await purchase(run, item, controls, {
				thing: 'token',
				request: body,
				submitAgain,
				status: 'created',
				create: async (noRepeat) => {
					const record = await run.client.createToken(body, noRepeat);
					created.set(key, record);
					return record;
				},
				isUsable: () => created.has(key) || !submitAgain,
			});
			const token = created.get(key);
			if (token === undefined) throw formError('tokenKeyGone', { name: String(body.name), id });
			run.hints.add(HINTS.apiKeyOnce());
			if (hasNothingToSpend(body)) run.hints.add(HINTS.nothingToSpend());
			return { json: { ...(token.about as IDataObject), ...(token.raw as IDataObject), api_key: token.apiKey } };
		};
	},
};

/**
 * Keys are shown once, so a second try (Retry On Fail) hands out what the first one got. In memory only, for as long as
 * the execution's ledger lives.
 */
function createdTokens(store: object): Map<string, TokenRecord> {
	const created = tokensOfLedgers.get(store) ?? new Map<string, TokenRecord>();
	tokensOfLedgers.set(store, created);
	return created;
}

const tokensOfLedgers = new WeakMap<object, Map<string, TokenRecord>>();

function readBody(item: Item) {
	const { options, context } = item;
	const isLimited = item.choice(fields.quotaField) === 'limited';
	const expires = item.choice(fields.expiryField) === 'date';
	return toTokenBody(
		{
			name: item.text(fields.nameField),
			expiresAtMs: expires ? readDate(item.value(fields.expiresAtField), context.getTimezone()) : undefined,
			quota: isLimited ? { unit: item.choice(fields.unitField), amount: item.value(fields.amountField) } : undefined,
			modelLimits: [fields.allowedModelsField, fields.otherModelsField].flatMap((field) => item.value(field) ?? []),
			dailyCredits: options.value(fields.dailyLimitOption),
			monthlyCredits: options.value(fields.monthlyLimitOption),
			group: options.text(fields.groupOption),
		},
		options.json(additionalFieldsOption),
		Date.now(),
	);
}

/** The latest moment that a date can hold, in milliseconds. */
const END_OF_TIME_MS = 8.64e15;

/** Unix milliseconds of a date from the picker (without a zone: the workflow's), or of what an expression gives. */
function readDate(value: unknown, timeZone: string): number {
	const { displayName: label } = fields.expiresAtField;
	if (value === undefined || value === '') throw formError('fieldEmpty', { label, enter: 'Choose a date and time, e.g. 2030-01-31T12:00:00, or Never as expiry.' });
	const atMs = readUnixTime(value);
	if (atMs !== undefined && Math.abs(atMs) <= END_OF_TIME_MS) return atMs;
	try {
		return tryToParseDateTime(value, timeZone).toMillis();
	} catch (cause) {
		throw formError('noDate', { label, value: show(value) }, cause);
	}
}

/** Of Unix seconds as a number or in digits. Fewer than nine digits can be a year, or a date without hyphens. */
function readUnixTime(value: unknown): number | undefined {
	const isDigits = typeof value === 'string' && /^\s*\d{9,}\s*$/.test(value);
	if (typeof value !== 'number' && !isDigits) return undefined;
	const seconds = Number(value);
	return seconds > LATEST_SECONDS ? seconds : seconds * 1000;
}
