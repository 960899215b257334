import type { TokenRecord } from '../../../core/records/accountRecords';
import { formError } from '../../errors/formErrors';
import { simplifyField } from '../../form/fields';
import { HINTS } from '../../run/hints';
import type { Operation } from '../../run/operation';
import { purchase } from '../../run/purchase';
import { createAgainOption, properties } from '../fields';
import { hasNothingToSpend } from '../tokenBody';
import { readTokenBody } from '../tokenForm';
import { toTokenOutput } from '../tokenOutput';

/** Create: a token with its own quota, expiry and models (contract 4.3). */
export const create: Operation = {
	option: {
		name: 'Create',
		value: 'create',
		description: 'Create a token and get its key',
		action: 'Create token',
	},
	properties,
	prepare: (item, run) => {
		const body = readTokenBody(item);
		const simplify = item.flag(simplifyField);
		const submitAgain = item.options.flag(createAgainOption);
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
			return { json: toTokenOutput(token, simplify) };
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
