import { createHash } from 'crypto';
import { stillUnknown, type CreatedThing } from '../../core/http/connectionErrors';
import { asGatewayError } from '../../core/errors';
import type { LedgerEntry, TaskLedger } from '../../core/tasks/ledger';
import type { JobControls } from '../../core/tasks/runTasks';
import type { TaskLog } from './taskLog';

/** Something that is to be created once for one item, however often the run is tried. */
export interface Creation {
	ledger: TaskLedger;
	log: TaskLog;
	itemIndex: number;
	thing: CreatedThing;
	/** The request: tells it from another one. */
	body: Record<string, unknown>;
	/** The user allows a second creation where the outcome of the first is unknown. */
	submitAgain: boolean;
	/** Sends the creating request and returns the id. */
	create: (noRepeat: AbortSignal) => Promise<string>;
	/** Whether what an earlier try created can still be used. */
	isUsable?: (entry: LedgerEntry) => boolean;
}

/** Creates, or takes what an earlier try has created. */
export async function createOnce(creation: Creation, { submitting }: JobControls): Promise<string> {
	const { ledger, log, itemIndex, thing, body, submitAgain, create, isUsable } = creation;
	const hash = createHash('sha256').update(`${thing} ${JSON.stringify(body)}`).digest('base64').slice(0, 22);
	const known = ledger.find(itemIndex, hash);
	if (known?.taskId === undefined && known !== undefined && !submitAgain) throw stillUnknown(thing);
	if (known?.taskId !== undefined && (isUsable?.(known) ?? true)) return known.taskId;

	return await submitting(async (noRepeat) => {
		try {
			const id = await create(noRepeat);
			// Here, not behind the wait: an answer that arrives after a stop must be written down, too.
			ledger.accepted(itemIndex, hash, id, Date.now());
			log.created(`${thing} ${id}`, itemIndex);
			return id;
		} catch (thrown) {
			const error = asGatewayError(thrown);
			if (error.kind === 'outcomeUnknown') ledger.outcomeUnknown(itemIndex, hash, Date.now());
			throw error;
		}
	});
}
