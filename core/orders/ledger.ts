import { z } from 'zod';
import { isPlainObject, type JsonObject } from '../json';
import { boughtInSchema } from './order';
import type { NamedRun } from '../errors/catalogueEntry';
import { printable, shorten } from '../text';

const KEY = 'generationGatewayTasks';

/** Characters of a name that is not the one: enough to recognize it. */
const LONGEST_SHOWN = 40;

/**
 * The ledger of one run: all that its orders have bought, so that a retry continues instead of buying again.
 *
 * It lives in the node's execution context, which n8n keeps across Retry On Fail and Retry execution. An entry
 * holds ids, times and URLs only: never the key, never image bytes. Its key is the run index (loops are separate
 * purchases) and the item index. Within one execution that key alone decides, because a prompt with `$now`
 * changes on every try; in a Retry execution the hash of the request decides too, because the user may have
 * changed the workflow in between.
 */
export class OrderLedger {
	constructor(readonly scope: LedgerScope) {}

	/** The name of this run. */
	get run(): string {
		return nameRun(this.scope.executionId, this.scope.runIndex);
	}

	/** The names of runs whose errors no person has seen yet: this one, and that of the execution that has handed it over. */
	get ownRuns(): string[] {
		const { handedOverBy, runIndex } = this.scope;
		return [this.run, ...(handedOverBy === undefined ? [] : [nameRun(handedOverBy, runIndex)])];
	}

	/** The entry of an earlier try of this item, if it was the same purchase. */
	find(itemIndex: number, hash: string): LedgerEntry | undefined {
		const { executionId, handedOverBy } = this.scope;
		const written = this.entries()[this.key(itemIndex)];
		if (written === undefined) return undefined;
		// An entry that cannot be read was written nevertheless: its outcome is not known.
		const entry = ledgerEntry.catch({ hash, executionId, acceptedAtMs: 0 }).parse(written);
		const isOwn = entry.executionId === executionId || entry.executionId === handedOverBy;
		if (!isOwn && entry.hash !== hash && !entry.lost) return undefined;
		// From here on it belongs to this execution, in which the key alone decides.
		entry.executionId = executionId;
		if (entry.taskId === undefined) entry.run ??= this.run;
		this.write(itemIndex, entry);
		return entry;
	}

	accepted(itemIndex: number, { uploads = [], attempt, ...entry }: Omit<LedgerEntry, 'executionId'>): void {
		const { executionId } = this.scope;
		const more = { ...(uploads.length > 0 ? { uploads } : {}), ...(attempt === undefined ? {} : { attempt }) };
		this.write(itemIndex, { ...entry, executionId, ...more });
	}

	outcomeUnknown(itemIndex: number, entry: Pick<LedgerEntry, 'hash' | 'acceptedAtMs' | 'said' | 'attempt'>): void {
		this.write(itemIndex, { ...entry, executionId: this.scope.executionId, run: this.run });
	}

	/** Notes what a try before a crash has left: a thing of another request, or a request of unknown outcome. */
	lost(itemIndex: number, entry: Omit<LedgerEntry, 'executionId'>): void {
		this.write(itemIndex, { ...entry, executionId: this.scope.executionId, lost: true });
	}

	/** Notes that a task may never give a result. Returns the first run that has given it up; undefined without an entry. */
	givenUp(itemIndex: number): string | undefined {
		if (!this.known(itemIndex)?.isGivenUp) this.add(itemIndex, { isGivenUp: true, run: this.run });
		return this.known(itemIndex)?.run;
	}

	/** Notes the other IDs that the records of a task have. */
	isCalled(itemIndex: number, otherIds: string[]): void {
		this.add(itemIndex, { otherIds });
	}

	/** True where a person wants another one of what an entry has left in doubt, or of the task that was given up. */
	isToSubmitAgain(request: SubmitAgain, { run }: Pick<LedgerEntry, 'run'>): boolean {
		return isToSubmitAgain(request, run, this.ownRuns);
	}

	/**
	 * The ID that the last orderly try of an item has left, whatever its request was. None where the run goes on in another execution: a
	 * retry that works on the item again then comes after a crash, and no person has seen what became of it.
	 */
	idOf(itemIndex: number): string | undefined {
		const { taskId, lost } = this.known(itemIndex) ?? {};
		return lost || this.entries()[this.key('handedOver')] === true ? undefined : taskId;
	}

	/**
	 * The entries of earlier tries about these items, by item, for the execution that they are handed to: rows do not tell all of it.
	 * They do of what a crash has left, and of what a key has reused.
	 */
	entriesOf(items: readonly number[]): JsonObject {
		const entries = items.flatMap((item): Array<[number, LedgerEntry]> => {
			const entry = this.known(item);
			return entry === undefined || entry.lost || entry.reusedKey !== undefined ? [] : [[item, entry]];
		});
		return Object.fromEntries(entries);
	}

	/** Begins with the entries of the execution that has handed the run over, unless this one has begun before. */
	beginsWith(entries: JsonObject): void {
		if (KEY in this.scope.store) return;
		for (const [item, entry] of Object.entries(entries)) this.entries()[this.key(Number(item))] = entry;
	}

	/** Notes that orders go on in another execution, where Retry On Fail may replace what this run has bought. */
	handedOver(orders: ReadonlyArray<{ item: number; isRetried?: boolean }>): void {
		this.entries()[this.key('handedOver')] = true;
		for (const { item, isRetried } of orders) if (isRetried) this.add(item, { handedOver: true });
	}

	/** Notes that the rows have told what the other execution has bought. */
	handedBack(itemIndex: number): void {
		this.add(itemIndex, { handedOver: undefined });
	}

	/** Forgets a task that has failed and will not recover: it may be created again, unless that may have been done. */
	forget(itemIndex: number): void {
		const known = this.known(itemIndex);
		delete this.entries()[this.key(itemIndex)];
		if (known?.handedOver && known.taskId !== undefined)
			this.write(itemIndex, { ...known, taskId: undefined, run: this.run });
	}

	/** The IDs of all that this run has created and not forgotten, in earlier tries, too. */
	get ids(): string[] {
		const prefix = `${this.scope.runIndex}.`;
		const ofRun = Object.entries(this.entries()).filter(([key]) => key.startsWith(prefix));
		return ofRun.flatMap(([, entry]) => ledgerEntry.safeParse(entry).data?.taskId || []);
	}

	/** The number of tries of this run that have ended with all that they did in the ledger: see `core/journal/marks.ts`. */
	get knownTries(): number {
		const known = this.entries()[this.key('tries')];
		return typeof known === 'number' ? known : 0;
	}

	countTry(): void {
		this.entries()[this.key('tries')] = this.knownTries + 1;
	}

	/** The memory of the journal for the tries of this execution: see `core/journal/journal.ts`. */
	get journal(): JsonObject | undefined {
		const kept = this.entries()[this.key('journal')];
		return isPlainObject(kept) ? kept : undefined;
	}

	set journal(memory: JsonObject) {
		this.entries()[this.key('journal')] = memory;
	}

	/** The run ended well: nothing of it is needed any more. */
	clearRun(): void {
		const entries = this.entries();
		const prefix = `${this.scope.runIndex}.`;
		for (const key of Object.keys(entries)) if (key.startsWith(prefix)) delete entries[key];
		if (Object.keys(entries).length === 0) delete this.scope.store[KEY];
	}

	private add(itemIndex: number, more: Partial<LedgerEntry>): void {
		const known = this.known(itemIndex);
		if (known !== undefined) this.write(itemIndex, { ...known, ...more });
	}

	private known(itemIndex: number): LedgerEntry | undefined {
		return ledgerEntry.safeParse(this.entries()[this.key(itemIndex)]).data;
	}

	private write(itemIndex: number, entry: LedgerEntry): void {
		this.entries()[this.key(itemIndex)] = entry;
	}

	private key(what: number | 'tries' | 'journal' | 'handedOver'): string {
		return `${this.scope.runIndex}.${what}`;
	}

	private entries(): JsonObject {
		const { store } = this.scope;
		const kept = store[KEY];
		if (isPlainObject(kept)) return kept;
		const entries: JsonObject = {};
		store[KEY] = entries;
		return entries;
	}
}

export interface LedgerScope {
	/** n8n's node context, or any object that lives as long as the retries do. */
	store: JsonObject;
	executionId: string;
	runIndex: number;
	/** The execution that has handed the run over to this one. */
	handedOverBy?: string;
}

export type LedgerEntry = z.infer<typeof ledgerEntry>;

const ledgerEntry = z.object({
	/** Absent while it is unknown whether the service accepted the request. */
	taskId: z.string().optional(),
	/** The words of the service, where it is unknown: they may hold the ID. */
	said: z.string().optional(),
	/** Hash of the request, taken before uploads. */
	hash: z.string(),
	/** URLs of the images that were uploaded for it: a retry does not take them for results. */
	uploads: z.array(z.string()).optional(),
	/** Another execution goes on with it, and may have created another one. */
	handedOver: z.boolean().optional(),
	/** The attempt in the purchase log: its end is noted there by the execution that sees it. */
	attempt: z.string().optional(),
	/** Another order has bought it, with this Purchase Key (its hash). */
	reusedKey: z.string().optional(),
	/** Another execution of the node has bought it for the same request. */
	boughtIn: boughtInSchema.optional(),
	/** Learned after a crash, and maybe not of this request: it counts whatever the request is now. */
	lost: z.boolean().optional(),
	/** Other IDs that its records had: otherwise a retry would not believe the record of a task that has finished meanwhile. */
	otherIds: z.array(z.string()).optional().catch(undefined),
	/** It was given up, though it may still give a result. */
	isGivenUp: z.boolean().optional(),
	/** The run that has left it in doubt, or has given it up: Submit Again for Run names it. */
	run: z.string().optional(),
	/** The execution that submitted it. */
	executionId: z.string(),
	/** Unix milliseconds. */
	acceptedAtMs: z.number(),
});

/** The name of a run of a node, e.g. `1234.0`: n8n's ID of its execution, and the run index. All its tries have it. */
export function nameRun(executionId: string, runIndex: number): string {
	return `${executionId}.${runIndex}`;
}

/**
 * True where a person has named the run that has left something in doubt: one purchase more is allowed in its place.
 * Never for what the run itself has left: no person has seen its error yet, and n8n's Retry On Fail would buy again.
 *
 * @param left the run that has left it
 * @param own the run that is to submit, and the one that has handed it over
 */
export function isToSubmitAgain(
	{ submitAgainFor }: SubmitAgain,
	left: string | undefined,
	own: readonly string[],
): boolean {
	return submitAgainFor !== undefined && submitAgainFor === left && !own.includes(left);
}

/**
 * The facts for the advice on something in doubt.
 *
 * @param left the run that has left it
 */
export function toNamedRun({ submitAgainFor }: SubmitAgain, left: string | undefined): NamedRun {
	return {
		...(left !== undefined && { run: left }),
		...(submitAgainFor !== undefined &&
			submitAgainFor !== left && { otherRun: printable(shorten(submitAgainFor, LONGEST_SHOWN)) }),
	};
}

/** The part of a request that says what a person wants submitted again. */
export interface SubmitAgain {
	/** The option Submit Again for Run: the run that an error has named. */
	submitAgainFor?: string;
}
