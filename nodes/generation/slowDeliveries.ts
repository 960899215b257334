import pLimit from 'p-limit';
import type { JobControls } from '../../core/orders/jobs';
import { FILE_LIMITS } from '../connection/fileLimits';
import { realClock } from '../connection/transport';

/** How many deliveries of this process that take long go on beside those whose turn it is. */
const MAX_SLOW_DELIVERIES = 12;
const limitSlow = pLimit(MAX_SLOW_DELIVERIES);

/** Takes a turn for work that may take long: then it gives its turn away and goes on, if few others do the same. */
export async function makingRoom<R>(
	delivering: JobControls['delivering'],
	work: () => Promise<R>,
	signal: AbortSignal,
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

/** Resolves when there is room beside the others, which it takes until the work is over. */
async function untilBeside(isOver: Promise<void>): Promise<void> {
	await new Promise<void>((begin) => {
		void limitSlow(async () => {
			begin();
			await isOver;
		});
	});
}
