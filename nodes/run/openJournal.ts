import type { IExecuteFunctions } from 'n8n-workflow';
import { createHash } from 'crypto';
import { untilAborted } from '../../core/abort';
import type { GatewayClient } from '../../core/client';
import { Journal, type JournalPorts } from '../../core/journal/journal';
import type { Marks } from '../../core/journal/marks';
import { NoTableError } from '../../core/journal/table';
import type { OrderLedger } from '../../core/orders/ledger';
import { hasPurchaseLog } from '../connection/settings';
import { CREDENTIAL, credentialIdOf, realClock } from '../connection/transport';
import { mayLackOldRows } from '../journal/cleanUp';
import { N8nJournalTable } from '../journal/journalTable';
import { assertTable, whatIsMissing } from '../journal/purchasesTable';
import { isInEngine2 } from './whereItRuns';
import { HINTS } from './hints';

export const LOG_IS_OFF = 'Purchase Log is turned off in the credential';

interface Opening {
	ledger: OrderLedger;
	marks: Marks;
	client: GatewayClient;
	hints: Set<string>;
	/** Without rows, nothing may be bought. */
	needsRows: boolean;
}

/**
 * The journal of a run that is about to buy something; the reason, where the run has no rows. That is decided here, by looking, and
 * never changes: see `core/journal/marks.ts` for the memory of such a run.
 */
export async function openJournal(
	context: IExecuteFunctions,
	{ ledger, marks, client, hints, needsRows }: Opening,
): Promise<Journal | string> {
	const credential = await context.getCredentials(CREDENTIAL);
	if (!hasPurchaseLog(credential)) return LOG_IS_OFF;
	const { run } = marks;
	const missing = whatIsMissing(context, run) ?? whyNotHere(context) ?? (await whyNoTable(context));
	const { rows } = client;
	if (missing !== undefined || rows === undefined || run.establishedAtMs === undefined) {
		const why = missing ?? 'n8n does not say when the execution began';
		hints.add(HINTS.notInPurchaseLog({ why }));
		return why;
	}
	const { id = '', name: workflow = '' } = context.getWorkflow();
	const { id: nodeId, name: node } = context.getNode();
	const journal: Journal = journalOf(context, {
		columns: { workflow, node, execution: run.executionId, account: credentialIdOf(context.getNode()) },
		identity: {
			...{ workflowId: String(id), nodeId },
			...{ establishedAtMs: run.establishedAtMs, runIndex: run.runIndex },
		},
		...{ marks, ledger, rows, needsRows },
		tell: (why) => hints.add(journal.isWithoutRows ? HINTS.notInPurchaseLog({ why }) : HINTS.rowsMissing({ why })),
	});
	return journal;
}

export interface JournalParts
	extends Pick<
		JournalPorts,
		'columns' | 'identity' | 'ledger' | 'marks' | 'handedOver' | 'tell' | 'isWanted' | 'needsRows'
	> {
	rows: { budget: JournalPorts['rows']; pace: JournalPorts['pace'] };
	/** See `N8nJournalTable`. */
	tableId?: string;
}

/** The journal of a run in n8n's data table. */
export function journalOf(context: IExecuteFunctions, parts: JournalParts): Journal {
	const { rows, tableId, ...ports } = parts;
	const beganAtMs = Number(ports.identity.establishedAtMs);
	return new Journal({
		...ports,
		isRetry: ports.marks.run.isRetry,
		// The rows of a run that was handed over tell by a lease and by a number where some were removed.
		isOld: ports.handedOver === undefined && mayLackOldRows(beganAtMs),
		table: new N8nJournalTable(context, ports.tell, beganAtMs, tableId),
		rows: rows.budget,
		pace: rows.pace,
		clock: realClock,
	});
}

function whyNotHere(context: IExecuteFunctions): string | undefined {
	if (isInEngine2(context)) return 'it is not possible in n8n’s engine 2.0';
	return context.getMode() === 'evaluation' ? 'an evaluation runs the workflow' : undefined;
}

/**
 * The reason why n8n has no table for the rows; undefined where there is one, or where only trying tells: a database that is locked
 * for a moment must not leave a run without rows.
 */
async function whyNoTable(context: IExecuteFunctions): Promise<string | undefined> {
	try {
		// A stop does not wait for n8n's database.
		await untilAborted(assertTable(context), context.getExecutionCancelSignal());
		return undefined;
	} catch (thrown) {
		return thrown instanceof NoTableError ? thrown.message : undefined;
	}
}

/** The hash by which a Purchase Key is found: the same for all nodes of a project with this account. */
export function hashOfKey(key: string, { account, baseUrl }: { account: string; baseUrl: string }): string {
	return createHash('sha256')
		.update(JSON.stringify(['Purchase Key', account, baseUrl, key]))
		.digest('base64')
		.slice(0, 22);
}
