import { createHash } from 'crypto';
import { gatewayError, GatewayError, type CreatedThing } from '../../core/errors';
import { unknownOutcome } from '../../core/http/connectionErrors';
import type { LedgerEntry } from '../../core/tasks/ledger';
import type { JobControls } from '../../core/tasks/runTasks';
import type { Item } from './item';
import type { Run } from './run';

/**
 * Everything that is created at the service is created here: once for one item, however often the run is tried. What
 * may be sent again is in `core/http/retry.ts`, what is remembered in `core/tasks/ledger.ts`, and what a crash leaves in
 * `core/tasks/intents.ts`.
 */
export interface Purchase<Answer extends { id: string }> {
	thing: CreatedThing;
	/** Tells this request from another one: all that is sent, and the content of files that are still to be uploaded. */
	request: unknown;
	/** The user allows a second creation where the outcome of the first is unknown. */
	submitAgain: boolean;
	/** The status of what has been created, for messages. */
	status: string;
	/** For the log, e.g. the model. */
	remark?: string;
	/** Uploads what the request needs, and says to which URLs. Costs nothing, and is not done where the thing exists. */
	upload?: (uploading: JobControls['uploading']) => Promise<string[]>;
	/** Sends the creating request. */
	create: (noRepeat: AbortSignal) => Promise<Answer>;
	/** Whether what an earlier try created can still be used. */
	isUsable?: (entry: LedgerEntry) => boolean;
}

export interface Bought<Answer> {
	id: string;
	/** Unix milliseconds. */
	acceptedAtMs: number;
	/** What was uploaded for it, in an earlier try, too. */
	uploads: string[];
	/** Absent where an earlier try has created it. */
	answer?: Answer;
}

/** Creates it, or takes what an earlier try has created. Throws where an earlier try may have created it. */
export async function purchase<Answer extends { id: string }>(
	{ ledger, log, intents }: Run,
	item: Item,
	{ submitting, uploading }: JobControls,
	{ thing, request, submitAgain, status, remark, upload, create, isUsable }: Purchase<Answer>,
): Promise<Bought<Answer>> {
	const hash = createHash('sha256')
		.update(`${thing} ${JSON.stringify(request)}`)
		.digest('base64')
		.slice(0, 22);
	const known = ledger.find(item.index, hash);
	if (known !== undefined && known.taskId === undefined && !submitAgain)
		throw gatewayError('outcomeStillUnknown', { thing });
	if (known?.taskId !== undefined && (isUsable?.(known) ?? true)) {
		const { taskId: id, acceptedAtMs, uploads = [] } = known;
		if (id !== '') item.accepted(id, thing === 'task' ? 'in_progress' : status);
		if (thing === 'task') log.continued(id);
		return { id, acceptedAtMs, uploads };
	}

	// A retry that may not submit has nothing to upload for.
	if (upload !== undefined && intents.scope.isRetry) await intents.declare(thing, submitAgain);
	const uploads = (await upload?.(uploading)) ?? [];
	const send = async (noRepeat: AbortSignal) => {
		try {
			const answer = await create(noRepeat);
			const { id } = answer;
			const acceptedAtMs = Date.now();
			// Here, not behind the wait: an answer that arrives after a stop must be written down, too.
			ledger.accepted(item.index, hash, id, acceptedAtMs, uploads);
			if (id !== '') item.accepted(id, status);
			log.accepted(thing, id, item.index, remark);
			return { id, acceptedAtMs, uploads, answer };
		} catch (thrown) {
			// A mistake of our own after the sending says nothing about what the service did.
			const error =
				thrown instanceof GatewayError
					? thrown
					: unknownOutcome(thing, 'The service answered, but the answer could not be read', undefined, thrown);
			if (error.kind === 'outcomeUnknown') ledger.outcomeUnknown(item.index, hash, Date.now());
			throw error;
		}
	};
	return await submitting(
		async (noRepeat) => await intents.guard(thing, submitAgain, async () => await send(noRepeat)),
	);
}
