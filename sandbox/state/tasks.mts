import type { Directives } from '../faults/directives.mts';
import { drawMs, type Duration } from '../options.mts';
import type { IdMaker } from './ids.mts';
import { progressAt } from './progress.mts';

/**
 * The ledger of accepted tasks. A task's state is computed from the clock whenever someone looks, so
 * nothing runs in the background and an injected clock moves every task at once.
 */

export type TaskKind = 'image' | 'video';
export type TaskPhase = 'queued' | 'in_progress' | 'completed' | 'failed';

/** A request body after validation. */
export interface Accepted {
	kind: TaskKind;
	model: string;
	/** The request as the service understands it: defaults filled in, aliases resolved. */
	effective: Record<string, unknown>;
	/** Fields of the body that the model does not have; ignored, as services do. */
	unknownFields: string[];
	credits: number;
	/** Result files: pixel size of images, aspect ratio of a video. */
	output: { files: number; width: number; height: number; aspectRatio: string };
}

export interface TaskState {
	phase: TaskPhase;
	progress: number | string | undefined;
}

export interface SandboxTask extends Accepted {
	id: string;
	userId: number;
	/** As received. */
	body: Record<string, unknown>;
	/** Milliseconds of the sandbox's clock; `endsAt` is Infinity for a task that never ends. */
	acceptedAt: number;
	queuedMs: number;
	endsAt: number;
	directives: Directives;
	/** State at this moment. */
	state(): TaskState;
}

/** A task as it can be saved. */
export type SavedTask = Omit<SandboxTask, 'state'>;

const LONGEST_QUEUE_MS = 2_000;

export class TaskLedger {
	private byId = new Map<string, SandboxTask>();
	private holdsNothing = false;

	constructor(
		private readonly ids: IdMaker,
		private readonly durations: Record<TaskKind, Duration>,
		private readonly now: () => number,
		private readonly random: () => number,
	) {}

	accept(accepted: Accepted, body: Record<string, unknown>, userId: number, directives: Directives): SandboxTask {
		const acceptedAt = this.now();
		const drawnMs = directives.durationMs ?? drawMs(this.durations[accepted.kind], this.random);
		const durationMs = this.holdsNothing && drawnMs === Infinity ? 0 : drawnMs;
		const queuedMs = directives.queuedMs ?? Math.min(durationMs * 0.1, LONGEST_QUEUE_MS);
		const plainId = this.ids.id(accepted.kind === 'image' ? 'img_' : 'vid_');
		return this.add({
			...accepted,
			// A slash, a space, a question mark, a percent sign and a letter beyond ASCII.
			id: directives.oddId ? `${plainId}/a b?c=d%2F#é+` : plainId,
			userId,
			body,
			acceptedAt,
			queuedMs,
			endsAt: acceptedAt + durationMs,
			directives,
		});
	}

	/** A new task, or one that was saved. */
	add(saved: SavedTask): SandboxTask {
		const task: SandboxTask = { ...saved, state: () => stateAt(this.now(), task) };
		this.byId.set(task.id, task);
		return task;
	}

	find(id: string): SandboxTask | undefined {
		return this.byId.get(id);
	}

	list(): SandboxTask[] {
		return [...this.byId.values()];
	}

	/** Completes the tasks that would never end, also those to come, and answers status reads and files without a delay. */
	release(): void {
		this.holdsNothing = true;
		for (const task of this.byId.values()) {
			if (task.endsAt === Infinity) task.endsAt = this.now();
			task.directives.poll = [];
			delete task.directives.bytesPerSecond;
		}
	}

	/** Most tasks that were accepted and not yet ended at one moment. */
	peakInFlight(): number {
		const now = this.now();
		const changes = this.list()
			.filter(({ acceptedAt, endsAt }) => endsAt > acceptedAt)
			.flatMap(({ acceptedAt, endsAt }) => [
				{ at: acceptedAt, by: 1 },
				...(endsAt <= now ? [{ at: endsAt, by: -1 }] : []),
			]);
		// At the same moment an end counts before a start.
		changes.sort((a, b) => a.at - b.at || a.by - b.by);
		let inFlight = 0;
		return changes.reduce((peak, { by }) => Math.max(peak, (inFlight += by)), 0);
	}

	clear(): void {
		this.byId.clear();
		this.holdsNothing = false;
	}
}

function stateAt(now: number, { acceptedAt, queuedMs, endsAt, directives }: SavedTask): TaskState {
	const elapsed = now - acceptedAt;
	const durationMs = endsAt - acceptedAt;
	if (elapsed >= durationMs) {
		if (directives.fail === undefined) return { phase: 'completed', progress: progressAt(directives.progress, 1) };
		return { phase: 'failed', progress: progressAt(directives.progress, 0.99) };
	}
	const phase = elapsed < queuedMs ? 'queued' : 'in_progress';
	const fraction = phase === 'queued' || durationMs === Infinity ? 0 : (elapsed - queuedMs) / (durationMs - queuedMs);
	return { phase, progress: progressAt(directives.progress, fraction) };
}
