import type { IExecuteFunctions } from 'n8n-workflow';
import { creditsBetween, modelsOf, usedCreditsOf, type CreditsNote } from '../../core/account/runCredits';
import { asGatewayError } from '../../core/errors';
import type { JsonObject } from '../../core/json';
import type { Order } from '../../core/orders/order';
import { createClient } from '../connection/createClient';
import { realClock } from '../connection/transport';
import { HINTS } from './hints';
import type { Run } from './nodeRun';

/** A run that has been paid for, or is about to be, waits for a reading no longer than that. Milliseconds. */
const LONGEST_READING_MS = 3000;

/** Reads the used credits before the first purchase, once for all tries of the execution. */
export async function readCreditsBefore({ context, hints, credits, ledger }: Run): Promise<void> {
	if (credits === undefined) return;
	const { store, executionId, runIndex } = ledger.scope;
	const memory = store as { creditsBefore?: { run: string; note: CreditsNote } };
	const run = `${executionId} ${runIndex}`;
	if (memory.creditsBefore?.run === run) {
		Object.assign(credits, memory.creditsBefore.note);
		// What is used now may be what an earlier try has bought.
		if (credits.usedBefore === undefined) tellUnknown(hints, 'no answer before the first try');
	} else {
		const balance = await readBalance(context, hints);
		const used = balance && usedCreditsOf(balance);
		if (used !== undefined) credits.usedBefore = used;
		else if (balance !== undefined) tellUnknown(hints, NOT_SAID);
	}
	memory.creditsBefore = { run, note: credits };
}

/** Says what the run has used: in a hint, in n8n's log and in the purchase log. */
export async function reportCredits(
	{ context, hints, log, credits, journal }: Pick<Run, 'context' | 'hints' | 'log' | 'credits' | 'journal'>,
	orders: Order[],
): Promise<void> {
	if (credits?.usedBefore === undefined) return;
	const balance = await readBalance(context, hints);
	if (balance === undefined) return;
	const used = creditsBetween(credits.usedBefore, balance);
	if (used === undefined) return tellUnknown(hints, NOT_SAID);
	journal?.noteRun(used.credits, modelsOf(orders));
	log.creditsUsed(used);
	hints.add(HINTS.runCredits(used));
}

const NOT_SAID = 'the service does not name them';

/** The balance of the account; undefined where it cannot be read in time, and then a hint says so. */
async function readBalance(context: IExecuteFunctions, hints: Run['hints']): Promise<JsonObject | undefined> {
	const over = new AbortController();
	const read = async () => {
		const client = await createClient(context, {
			signal: over.signal,
			readTries: 1,
			readTimeoutMs: LONGEST_READING_MS,
		});
		return await client.getUserBalance();
	};
	try {
		const tooLate = realClock.sleep(LONGEST_READING_MS, over.signal).then(() => undefined);
		const balance = await Promise.race([read(), tooLate]);
		if (balance === undefined) tellUnknown(hints, `no answer within ${LONGEST_READING_MS / 1000} seconds`);
		return balance;
	} catch (thrown) {
		tellUnknown(hints, asGatewayError(thrown).message.replace(/\.$/, ''));
		return undefined;
	} finally {
		over.abort();
	}
}

function tellUnknown(hints: Run['hints'], why: string): void {
	hints.add(HINTS.creditsUnknown({ why }));
}
