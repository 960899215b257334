import type { KeyClaims } from '../journal/purchaseKey';
import { TABLE_NAME, type AttemptState } from '../journal/row';
import { onAbort } from '../abort';
import { gatewayError, GatewayError } from '../errors';
import type { OrderLedger } from './ledger';
import type { Purchase } from './order';
import { isToSubmitAgain, toNamedRun, type SubmitAgain } from './runs';

/** The part of an order that the log needs. */
export interface Submission extends Pick<Purchase, 'thing'> {
	request?: SubmitAgain;
}

/** The outcome of a request. A pause of 0: it is sent again as soon as the account has a place. */
export type RequestOutcome = Partial<{ taskId: string; error: GatewayError; pauseMs: number }>;

export interface WriteAhead {
	/** Called before files of an order are uploaded. Throws where it may not be submitted. */
	beforeUploads: (order: Submission) => Promise<void>;
	/**
	 * Resolves when the creating request of an order may be sent: what has to be written down is. Throws where an earlier try, or
	 * another execution, may have created the thing.
	 */
	begin: (order: Purchase, signal?: AbortSignal) => Promise<void>;
	/** The longest time between `begin` and the turn of the request. Absent: any. Milliseconds. */
	turnWithinMs?: number;
	/** The request leaves. */
	leaves?: (order: Purchase) => void;
	/** Notes what came of a request, when the ledger knows it. Called once after each `begin`, also where that has thrown. */
	note: (order: Purchase, state: AttemptState, outcome: RequestOutcome) => void;
	/** True where a person has named what a dead try has left. Absent where there is no such try. */
	isOverruled?: (order: Submission) => Promise<boolean>;
	/** The Purchase Keys of the run. Absent where it can have none. */
	keys?: KeyClaims;
}

export interface WriteAheadStore {
	/** Writes the names, and returns those that were there before. */
	record: (names: string[]) => Promise<string[]>;
	remove: (names: string[]) => Promise<void>;
}

export interface WriteAheadScope {
	/** The name that an execution and its retries share. Other executions may have the same: they take another slot. */
	execution: string;
	/** The time of the first try; undefined where n8n does not tell. Unix milliseconds. */
	establishedAtMs?: number;
	/** False where `execution` is only what came into the node: the name must then be free for the next execution. */
	isLasting: boolean;
	/** The name of what a dead try has left: a retry does not know the execution that has died. */
	deadRun: string;
	/** A Retry execution has an ID of its own. */
	executionId: string;
	/** Rounds of a loop, and calls of an agent, are purchases of their own. */
	runIndex: number;
	isRetry: boolean;
}

/** The slots of a name: so many tries with the same name can be under way. One more is not guarded. */
const SLOTS = Array.from({ length: 16 }, (_, slot) => slot);

/** First tries with rows in the journal that a retry tells apart: one, or more. */
const ROW_SLOTS = [0, 1];

/** The marks of the tries of a run that write rows: that of all of them, and those of first tries. See `core/journal/marks.ts`. */
export function marksWithRows({ execution, runIndex }: Pick<WriteAheadScope, 'execution' | 'runIndex'>): string[] {
	const name = `generation-gateway ${execution}, run ${runIndex}, with rows`;
	return [name, ...ROW_SLOTS.map((slot) => `${name}, slot ${slot}`)];
}

/** The doubt that an earlier try has left: one that has died, or another retry of the same execution. */
interface Left {
	/** A person names it as Submit Again for Run. */
	run: string;
	/** The name that is written before anything is submitted in its place. */
	again: string;
}

/** The reasons to be careful after an earlier try, for messages. */
export const INTERRUPTED = `An earlier try was interrupted before it could record the answers. The IDs that it received are in n8n's log and, if it had rows there, in the data table ${TABLE_NAME}.`;
export const UNREADABLE = 'n8n could not read its record of what an earlier try of this execution submitted.';

/** The error of an order that is not submitted, because what must be recorded first was not. */
export function notRecorded(thrown: unknown): GatewayError {
	const cause = thrown instanceof GatewayError ? (thrown.details.cause ?? thrown) : thrown;
	return gatewayError('submissionNotRecorded', { words: cause instanceof Error ? cause.message : String(cause) });
}

/**
 * The write-ahead log of a run. Before the first creating request of a try is sent, the name of the try is written where a
 * crash does not erase it. When the answers arrive, the ledger remembers them; but n8n saves the ledger only when the node
 * ends. So a later try that finds a name whose try is not in its ledger knows: n8n has died in between, and nobody knows
 * which requests were accepted. It submits nothing.
 *
 * - One name stands for all items of a try. n8n keeps all names of a node in one row of its database and drops the oldest
 *   ones: with one for each item, a large batch would push out those of other executions.
 * - The name has a number: of the tries whose end the ledger knows. After an orderly end the ledger counts one more, and the
 *   next try has another name, so the old one need not be removed. After a crash, and in a second retry of the same
 *   execution, the ledger is an older copy with a lower number: its next try gets the name that is there already.
 * - A person can submit in the place of what such a try has left, by its name (Submit Again for Run). That is written
 *   down first, under a number, and what is left from then on has the next number in its name. Otherwise the same name,
 *   which stays in the form, would buy again after the next crash.
 */
export class WriteAheadLog implements WriteAhead {
	private asked?: Promise<Left | undefined>;

	/** The reason to be careful, for messages. */
	private what = INTERRUPTED;

	/** The doubt that is there by now: another retry may have submitted in the place of the one that this one has found. */
	private overruling?: Promise<Left | undefined>;

	/** Names that this try has written, and may remove. */
	private written: string[] = [];

	/** The name of the dead try in whose place this one submits. */
	private again?: string;

	/**
	 * Orders whose creating requests have an outcome that the ledger does not know yet, including those that wait for the name to be
	 * written.
	 */
	private readonly underWay = new Set<Submission>();

	/** The service has accepted a request of this try, or may have. */
	private hasBought = false;

	/** The name of this try, which no other execution has. */
	readonly name: string;

	private readonly slots: string[];

	/** Without a store there is no guard. */
	constructor(
		readonly scope: WriteAheadScope,
		private readonly ledger: OrderLedger,
		private readonly store?: WriteAheadStore,
	) {
		const { execution, executionId, runIndex } = scope;
		const ofTry = `run ${runIndex}, try ${ledger.knownTries}`;
		// n8n 1.x hands an execution whose worker is gone to another one: not as a retry, but under the same ID.
		this.name = `generation-gateway execution ${executionId}, ${ofTry}`;
		this.slots = SLOTS.map((slot) => `generation-gateway ${execution}, ${ofTry}, slot ${slot}`);
	}

	/** A retry that may not submit has nothing to upload for. */
	async beforeUploads(order: Submission): Promise<void> {
		if (this.scope.isRetry) await this.declare(order);
	}

	async begin(order: Submission): Promise<void> {
		this.underWay.add(order);
		await this.declare(order);
	}

	note(order: Submission, state: AttemptState): void {
		this.underWay.delete(order);
		if (state === 'accepted' || state === 'unknown') this.hasBought = true;
	}

	/** True where an earlier try has submitted something without rows, or may have. To ask is to write: free names are removed again. */
	async wasFound(): Promise<boolean> {
		const names = [this.name, ...this.slots];
		const found = (await this.store?.record(names)) ?? [];
		await this.remove(names.filter((name) => !found.includes(name)));
		return found.length > 0;
	}

	/** Lets nothing be submitted that a person does not name: rows have to be there of what an earlier try has sent, and do not tell all. */
	doubt(what: string): void {
		this.what = what;
		const { store } = this;
		this.asked ??= store === undefined ? Promise.resolve(undefined) : this.nameLeft(store);
		// An error that no order waits for would end n8n.
		this.asked.catch(() => {});
	}

	/**
	 * Ends the try after all its items. The ledger then knows all of it, unless a stop has not waited for a request or
	 * the store.
	 *
	 * @param signal aborts when the user stops the execution
	 */
	async end(signal?: AbortSignal): Promise<void> {
		// An item that was about to upload does not hold up the end of the others, but its name may still be being written.
		let forget = () => {};
		const stopped = new Promise<undefined>((resolve) => (forget = onAbort(signal, () => resolve(undefined))));
		await Promise.race([this.asked?.catch(() => {}), stopped]);
		forget();
		if (this.underWay.size > 0) return;
		if (this.again !== undefined && !this.hasBought) await this.remove([this.again]);
		if (this.written.length === 0) return;
		// The service has surely accepted nothing, so a retry may submit even if n8n dies before it has saved the ledger.
		if (!this.hasBought && (await this.remove(this.written))) return;
		this.ledger.countTry();
		if (!this.scope.isLasting) await this.remove(this.written.filter((name) => name !== this.name));
	}

	async isOverruled({ request = {} }: Submission): Promise<boolean> {
		if (request.submitAgainFor === undefined) return false;
		const left = await this.find();
		return isToSubmitAgain(request, left?.run, this.ledger.run);
	}

	/** Writes down, once for all items, that this try submits. Throws where it may not submit this one. */
	async declare({ thing, request = {} }: Submission): Promise<void> {
		const { store } = this;
		let left = await this.find();
		if (store === undefined || left === undefined) return;
		if (isToSubmitAgain(request, left.run, this.ledger.run)) {
			this.overruling ??= this.overrule(store, left);
			left = await this.overruling;
			if (left === undefined) return;
		}
		throw gatewayError('outcomeStillUnknown', { thing, what: this.what, ...toNamedRun(request, left.run) });
	}

	/** Writes the name of this try. Returns what another one of this name has left; undefined where there is none. */
	private async find(): Promise<Left | undefined> {
		return await (this.asked ??= this.write());
	}

	private async write(): Promise<Left | undefined> {
		const { store, scope } = this;
		if (store === undefined) return undefined;
		let isFree: boolean;
		try {
			isFree = await (scope.isRetry ? this.takeOnlySlot(store) : this.takeFreeSlot(store));
		} catch (thrown) {
			// An earlier try may have submitted: only the names tell.
			if (scope.isRetry) throw notRecorded(thrown);
			return undefined;
		}
		return isFree ? undefined : await this.nameLeft(store);
	}

	/** The name of what is left now. Its number counts how often something was submitted in its place. To ask is to write. */
	private async nameLeft({ record }: WriteAheadStore): Promise<Left> {
		const { execution, runIndex, deadRun } = this.scope;
		try {
			for (let number = 1; ; number++) {
				const again = `generation-gateway ${execution}, run ${runIndex}, again ${number}`;
				if ((await record([again])).length > 0) continue;
				await this.remove([again]);
				return { run: number === 1 ? deadRun : `${deadRun}.${number}`, again };
			}
		} catch (thrown) {
			throw notRecorded(thrown);
		}
	}

	/** Writes down that this try submits in the place of what was left. Returns what is left where another retry has done so. */
	private async overrule(store: WriteAheadStore, { again }: Left): Promise<Left | undefined> {
		const found = await store.record([again]).catch((thrown: unknown) => {
			throw notRecorded(thrown);
		});
		if (found.length > 0) return await this.nameLeft(store);
		this.again = again;
		return undefined;
	}

	/** Other executions may have the same name, so only its own ID stops one that is no retry: false where it is there. */
	private async takeFreeSlot({ record }: WriteAheadStore): Promise<boolean> {
		let names = [this.name];
		for (const slot of this.slots) {
			names.push(slot);
			const found = await record(names);
			if (found.includes(this.name)) return false;
			this.written.push(...names.filter((name) => !found.includes(name)));
			if (!found.includes(slot)) break;
			names = [];
		}
		return true;
	}

	/** Any slot that is taken may be the one of the try that has crashed. Returns false where one is. */
	private async takeOnlySlot({ record }: WriteAheadStore): Promise<boolean> {
		const withRows = marksWithRows(this.scope);
		const found = await record([this.name, ...this.slots, ...withRows]);
		const free = [...withRows, ...this.slots].filter((name) => !found.includes(name));
		if (found.length > 0) {
			await this.remove(free);
			return false;
		}
		const kept = free.splice(withRows.length, 1);
		await this.remove(free);
		this.written = [this.name, ...kept];
		return true;
	}

	/** Returns true when the names are gone. Names that stay make a retry careful. */
	private async remove(names: string[]): Promise<boolean> {
		try {
			await this.store?.remove(names);
			return true;
		} catch {
			return false;
		}
	}
}
