/** All that is written before a request: `WriteAhead`, which the journal is with rows, and the marks of a run, which are there without rows, too. */
import { untilAborted } from '../abort';
import type { Clock } from '../clock';
import { gatewayError, GatewayError } from '../errors';
import { isToSubmitAgain, nameRun, toNamedRun, type OrderLedger, type SubmitAgain } from '../orders/ledger';
import { TABLE_NAME } from '../labels';
import type { AttemptState } from './row';
import type { Purchase } from '../orders/order';
import type { KeyClaims } from './purchaseKey';

/** A retry that asks for marks has removed its own by then. Milliseconds. */
const ASK_AGAIN_MS = 100;

/** The first tries of one name without rows that can be under way at the same time. One more is not guarded. */
const SLOTS = Array.from({ length: 16 }, (_, slot) => slot);

/** The first tries with rows that a retry tells apart: one, or more. */
const SLOTS_WITH_ROWS = SLOTS.slice(0, 2);

/** The reasons to be careful after an earlier try, for messages. */
export const INTERRUPTED = `An earlier try was interrupted before it could record the answers. The IDs that it received are in n8n's log and, if it had rows there, in the data table ${TABLE_NAME}.`;

export const UNREADABLE = 'n8n could not read its record of what an earlier try of this execution submitted.';

/** Writes down what is about to be bought, for a retry after a crash, and lets no other execution buy it, too. */
export interface WriteAhead {
	/** Called before files of an order are uploaded. Throws where it may not be submitted. */
	beforeUploads: (order: Submission) => Promise<void>;
	/**
	 * Resolves when the creating request of an order may be sent: what has to be written down is. Throws where an earlier try, or
	 * another execution, may have created the thing.
	 *
	 * @param onWait called when it begins to wait because the account is full. What it returns is called when it waits no more
	 */
	begin: (order: Purchase, signal?: AbortSignal, onWait?: () => (() => void) | undefined) => Promise<void>;
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

/** The part of an order that says whether it may be submitted. */
export interface Submission extends Pick<Purchase, 'thing'> {
	request?: SubmitAgain;
}

/** The outcome of a request. A pause of 0: it is sent again as soon as the account has a place. */
export type RequestOutcome = Partial<{ taskId: string; error: GatewayError; pauseMs: number }>;

/**
 * The marks of a run: what its tries write into n8n's table of processed data before their first request, where a crash does not
 * erase it. n8n saves the ledger only when the node ends. So a retry that finds a mark of a try that is not in its ledger knows: n8n
 * has died in between, and requests may have been accepted.
 *
 * - **That of the execution.** n8n 1.x hands an execution whose worker is gone on under the same ID, and not as a retry.
 * - **With rows**: that of the run and, for a first try, a slot. They say that rows must be there, those of the first try included.
 *   Otherwise, a table that a person has cleared would look like a run that has sent nothing.
 * - **Without rows**: a slot, with the number of the try. A retry that finds one submits nothing, whatever rows there are. The ledger
 *   counts the tries of which it knows the end. After an orderly end the next try has another number, so the mark can stay. After a
 *   crash, and in a second retry of the same execution, the ledger is an older copy: its next try finds the mark.
 * - **Again**: a person has named what a try has left, and something is submitted in its place. Otherwise the same name, which stays
 *   in the form, would buy again after the next crash.
 *
 * Other executions may have the name of this one: those of the same millisecond, or with the same input. They take other slots. One
 * mark stands for all items of a try: n8n drops the oldest marks of a node, and a large batch would push out those of others.
 */
export class Marks implements WriteAhead {
	private readonly ofExecution: string;

	private readonly ofRun: string;

	private readonly withRows: string;

	private readonly slotsWithRows: string[];

	private readonly slots: string[];

	/** Those that this try has left, and those that it has found in their place. */
	private own: string[] = [];

	/** Those that this try may remove: it has left them without rows. */
	private removable: string[] = [];

	/** The doubt that an earlier try has left, once this one has asked. */
	private asked?: Promise<Doubt | undefined>;

	/** The doubt that is left by now: another retry may have submitted in the place of what this one has found. */
	private overruling?: Promise<Doubt | undefined>;

	/** The reason to be careful, for messages. */
	private what = INTERRUPTED;

	/** Orders whose creating requests have an outcome that the ledger does not know yet, also those that wait for the mark. */
	private readonly underWay = new Set<Submission>();

	/** The service has accepted a request of this try, or may have. */
	private hasBought = false;

	/** @param store absent where nothing can be written: then nothing is guarded */
	constructor(
		readonly run: MarkedRun,
		private readonly ledger: OrderLedger,
		private readonly store?: MarkStore,
	) {
		const { establishedAtMs, input, executionId, runIndex } = run;
		const name = establishedAtMs === undefined ? `input ${input}` : `established ${establishedAtMs}`;
		this.ofExecution = `generation-gateway execution ${executionId}, run ${runIndex}, try ${ledger.knownTries}`;
		this.ofRun = `generation-gateway ${name}, run ${runIndex}`;
		this.withRows = `${this.ofRun}, with rows`;
		this.slotsWithRows = SLOTS_WITH_ROWS.map((slot) => `${this.withRows}, slot ${slot}`);
		this.slots = SLOTS.map((slot) => `${this.ofRun}, try ${ledger.knownTries}, slot ${slot}`);
	}

	/** The marks of earlier tries, before a try with rows sends anything. */
	async find(): Promise<FoundMarks> {
		const found = await this.ask();
		return {
			withRows: found.some((mark) => mark.startsWith(this.withRows)),
			firstTries: found.filter((mark) => this.slotsWithRows.includes(mark)).length,
			withoutRows: found.some((mark) => !mark.startsWith(this.withRows)),
		};
	}

	/**
	 * Leaves the marks of a try with rows. Returns `taken` where another process has sent something for this very
	 * execution; `retried` where a retry of this first try may have, `beside` where another try or execution may.
	 *
	 * @param of a first try of the run, or a retry
	 */
	async leaveWithRows(of: 'firstTry' | 'retry'): Promise<'alone' | 'beside' | 'retried' | 'taken'> {
		const isFirst = of === 'firstTry';
		const [slot, ...slots] = isFirst ? this.slotsWithRows : [];
		const found = await this.leave([this.ofExecution, this.withRows, ...(slot ? [slot] : [])], slots);
		if (found.includes(this.ofExecution)) return 'taken';
		if (found.length === 0) return 'alone';
		// A first try leaves both.
		return isFirst && !found.some((mark) => this.slotsWithRows.includes(mark)) ? 'retried' : 'beside';
	}

	/** True where a first try has left its marks by now. To ask is to write: another retry may ask at the same moment. */
	async hasFirstTry(clock: Pick<Clock, 'sleep' | 'random'>): Promise<boolean> {
		const ask = async () => {
			const found = await this.record(this.slotsWithRows);
			await this.remove(this.slotsWithRows.filter((mark) => !found.includes(mark)));
			return found.length > 0;
		};
		if (!(await ask())) return false;
		await clock.sleep(ASK_AGAIN_MS * (1 + clock.random()));
		return await ask();
	}

	/** Writes the same marks again: a retry that has asked for them at the same moment takes them for its own, and removes them. */
	async leaveAgain(): Promise<void> {
		await this.record(this.own);
	}

	/** A retry that may not submit has nothing to upload for. */
	async beforeUploads(order: Submission): Promise<void> {
		if (this.run.isRetry) await this.assertMaySubmit(order);
	}

	/** Leaves the mark of a try without rows, once for all items. Throws where it may not submit this one. */
	async begin(order: Submission): Promise<void> {
		this.underWay.add(order);
		await this.assertMaySubmit(order);
	}

	note(order: Submission, state: AttemptState): void {
		this.underWay.delete(order);
		if (state === 'accepted' || state === 'unknown') this.hasBought = true;
	}

	/** Lets nothing be submitted that a person does not name: rows have to be there of what an earlier try has sent, and do not tell all. */
	doubt(what: string): void {
		this.what = what;
		this.asked ??= this.nameDoubt();
		// An error that no order waits for would end n8n.
		this.asked.catch(() => {});
	}

	async isOverruled({ request = {} }: Submission): Promise<boolean> {
		return request.submitAgainFor !== undefined && this.isNamed(request, await this.findDoubt());
	}

	/**
	 * Ends the try after all its items. The ledger then knows all, unless a stop did not wait for a request or the store.
	 *
	 * @param signal aborts when the user stops the execution
	 */
	async end(signal?: AbortSignal): Promise<void> {
		// An item that was about to upload does not hold up the end of the others, but its mark may still be being written.
		await untilAborted(
			Promise.resolve(this.asked).catch(() => {}),
			signal,
		);
		if (this.underWay.size > 0) return;
		// The service has surely accepted nothing, so a retry may submit even if n8n dies before it has saved the ledger.
		if (!this.hasBought && (await this.remove(this.removable))) return;
		// What an earlier try has left is still to be found by the next one.
		if (this.removable.length === 0 || this.overruling !== undefined) return;
		this.ledger.countTry();
		// The next execution may have the same input.
		const isFree = (mark: string) => mark !== this.ofExecution;
		if (this.run.establishedAtMs === undefined) await this.remove(this.removable.filter(isFree));
	}

	private async assertMaySubmit({ thing, request = {} }: Submission): Promise<void> {
		let doubt = await this.findDoubt();
		if (doubt !== undefined && this.isNamed(request, doubt)) doubt = await (this.overruling ??= this.overrule(doubt));
		if (doubt === undefined) return;
		throw gatewayError('outcomeStillUnknown', { thing, what: this.what, ...toNamedRun(request, doubt.run) });
	}

	private isNamed(request: SubmitAgain, doubt: Doubt | undefined): boolean {
		return isToSubmitAgain(request, doubt?.run, this.ledger.ownRuns);
	}

	private async findDoubt(): Promise<Doubt | undefined> {
		return await (this.asked ??= this.leaveWithoutRows());
	}

	/** Returns what an earlier try has left: any slot that is taken may be that of one that has crashed. */
	private async leaveWithoutRows(): Promise<Doubt | undefined> {
		if (this.store === undefined) return undefined;
		const { isRetry } = this.run;
		const [slot = '', ...slots] = this.slots;
		const marks = [this.ofExecution, slot];
		const leaving = isRetry ? this.ask(marks) : this.leave(marks, slots);
		const found = await leaving.catch((error: unknown) => {
			// An earlier try may have submitted: only the marks tell.
			if (isRetry) throw error;
			return undefined;
		});
		if (found === undefined) return undefined;
		if (isRetry ? found.length > 0 : found.includes(this.ofExecution)) return await this.nameDoubt();
		this.removable = this.own.filter((mark) => !found.includes(mark));
		return undefined;
	}

	/** Writes marks. Where the last one is taken, also the next that is free. Returns those that were there. */
	private async leave(marks: string[], [next, ...others]: string[]): Promise<string[]> {
		const found = await this.record(marks);
		this.own = [...new Set([...this.own, ...marks])];
		const isTaken = found.includes(marks.at(-1) ?? '') && !found.includes(this.ofExecution);
		return isTaken && next !== undefined ? [...found, ...(await this.leave([next], others))] : found;
	}

	/**
	 * Asks for the marks of all tries. To ask is to write: what was not there is removed again.
	 *
	 * @param own stays where there was none
	 */
	private async ask(own: string[] = []): Promise<string[]> {
		const asked = [this.ofExecution, ...this.slots, this.withRows, ...this.slotsWithRows];
		const found = await this.record(asked);
		this.own = found.length === 0 ? own : [];
		await this.remove(asked.filter((mark) => !found.includes(mark) && !this.own.includes(mark)));
		return found;
	}

	/** The name of its run counts how often something was submitted in its place. To ask is to write. */
	private async nameDoubt(): Promise<Doubt> {
		const { establishedAtMs, input = '', runIndex } = this.run;
		const run = nameRun(String(establishedAtMs ?? input), runIndex);
		for (let number = 1; ; number++) {
			const again = `${this.ofRun}, again ${number}`;
			if ((await this.record([again])).length > 0) continue;
			await this.remove([again]);
			return { run: number === 1 ? run : `${run}.${number}`, again };
		}
	}

	/** Notes that something is submitted in the place of what is in doubt. Returns what is, where another retry has done so. */
	private async overrule({ again }: Doubt): Promise<Doubt | undefined> {
		if ((await this.record([again])).length > 0) return await this.nameDoubt();
		this.removable = [again];
		return undefined;
	}

	private async record(marks: string[]): Promise<string[]> {
		if (this.store === undefined) throw notRecorded('n8n has no table of processed data');
		return await this.store.record(marks).catch((thrown: unknown) => {
			throw notRecorded(thrown);
		});
	}

	/** Returns false where they stay. That makes a retry careful. */
	private async remove(marks: string[]): Promise<boolean> {
		try {
			if (marks.length > 0) await this.store?.remove(marks);
			return true;
		} catch {
			return false;
		}
	}
}

/** The run of a node that leaves marks. */
export interface MarkedRun {
	/** The time of the first try, which an execution and its retries share. Undefined where n8n does not tell. Unix milliseconds. */
	establishedAtMs?: number;
	/** A hash of what came into the node, which takes its place there. */
	input?: string;
	/** A Retry execution has an ID of its own, and does not know that of the first try. */
	executionId: string;
	/** Rounds of a loop, and calls of an agent, are purchases of their own. */
	runIndex: number;
	isRetry: boolean;
}

/** n8n's table of processed data. It keeps hashes: it tells that a mark is there, and not what it stands for. */
export interface MarkStore {
	/** Writes the marks, and returns those that were there before. */
	record: (marks: string[]) => Promise<string[]>;
	remove: (marks: string[]) => Promise<void>;
}

/** The marks that earlier tries of a run have left. */
export interface FoundMarks {
	/** A try has sent a request after its row. */
	withRows: boolean;
	/** The number of first tries that have done so: 2 stands for more, too. */
	firstTries: number;
	/** A try has sent requests without rows, or may have. */
	withoutRows: boolean;
}

/** The doubt that an earlier try has left: one that has died, or another retry of the same execution. */
interface Doubt {
	/** A person names it as Submit Again for Run. */
	run: string;
	/** The mark that is left before anything is submitted in its place. */
	again: string;
}

/** The error of an order that is not submitted, because what must be recorded first was not. */
export function notRecorded(thrown: unknown): GatewayError {
	if (thrown instanceof GatewayError && thrown.details.reason?.name === 'submissionNotRecorded') return thrown;
	const cause = thrown instanceof GatewayError ? (thrown.details.cause ?? thrown) : thrown;
	return gatewayError('submissionNotRecorded', { words: cause instanceof Error ? cause.message : String(cause) });
}

/** The error of a request whose row is too old by the time it would leave: another one is written, a few times. */
export const tooSlow = () =>
	gatewayError('submissionNotRecorded', { words: 'n8n took too long' }, { again: { isConnection: true } });
