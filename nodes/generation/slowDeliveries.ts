import type { JobControls } from '../../core/engine/jobs';
import { limitSlowDeliveries } from '../../core/processMemory';
import { FILE_LIMITS } from '../connection/fileLimits';
import { realClock } from '../connection/transport';

/**
 * Does work when its turn among the deliveries of a run comes. Work that takes long gives the turn to the next one after
 * a while and goes on beside it, as long as there are not too many of these in the process.
 */
export async function takeDeliveryTurn<R>(
	{ delivering, signal }: Pick<JobControls, 'delivering' | 'signal'>,
	work: () => Promise<R>,
): Promise<R> {
	const { running } = await delivering(async () => {
		const running = work();
		const ended = new AbortController();
		const isOver = running.then(
			() => ended.abort(),
			() => ended.abort(),
		);
		await realClock.sleep(FILE_LIMITS.turnMs, AbortSignal.any([signal, ended.signal]));
		if (!ended.signal.aborted) await Promise.race([isOver, untilBeside(isOver)]);
		return { running };
	});
	return await running;
}

/** Resolves when one of the places without a turn is free, and takes it until the work is over. */
async function untilBeside(isOver: Promise<void>): Promise<void> {
	await new Promise<void>((begin) => {
		void limitSlowDeliveries(async () => {
			begin();
			await isOver;
		});
	});
}
