/** The events while the workflows run: an orderly restart of n8n, and kill -9 of a worker. */
import type { N8n } from '../../../tools/n8n/launch.mjs';
import { endN8n } from '../../n8n/support/instance.mts';
import { pause } from '../../n8n/support/until.mts';
import type { Cluster } from '../../queue/support/cluster.mts';

export interface Event {
	what: 'restart' | 'kill';
	/** From the end of a process until it was ready again, in Unix milliseconds. */
	fromMs: number;
	untilMs: number;
}

const MOST_STARTS = 5;

/** In an hour, n8n restarts every 10 minutes and a worker is killed every 15; a shorter run has one of each. */
function planOf(minutes: number): Array<Pick<Event, 'what'> & { atMinute: number }> {
	const every = (step: number, what: Event['what']) =>
		Array.from({ length: Math.ceil(minutes / step) - 1 }, (_, index) => ({ what, atMinute: step * (index + 1) }));
	return [...every(Math.min(15, 0.7 * minutes), 'kill'), ...every(Math.min(10, minutes / 2), 'restart')].sort(
		(a, b) => a.atMinute - b.atMinute,
	);
}

/** An n8n on a busy machine may give up while it starts, for example when Redis answers late. A service manager starts it again. */
async function startAgain({ restart }: Cluster, ended: N8n): Promise<N8n> {
	for (let start = 1; ; start++) {
		try {
			return await restart(ended);
		} catch (error) {
			if (start === MOST_STARTS) throw error;
		}
	}
}

/** Lets so many minutes pass. The second worker is left alone, so that one process runs from the beginning to the end. */
export async function disturb(cluster: Cluster, minutes: number): Promise<Event[]> {
	const startMs = Date.now();
	const untilMinute = async (minute: number) => await pause(startMs + 60_000 * minute - Date.now());
	const events: Event[] = [];
	let running = { main: cluster.main, worker: cluster.workers[0] as N8n };
	for (const { what, atMinute } of planOf(minutes)) {
		await untilMinute(atMinute);
		const fromMs = Date.now();
		if (what === 'kill') {
			await endN8n(running.worker, 'SIGKILL');
			running = { ...running, worker: await startAgain(cluster, running.worker) };
		} else {
			await Promise.all(Object.values(running).map(async (n8n) => await endN8n(n8n, 'SIGTERM')));
			running = { main: await startAgain(cluster, running.main), worker: await startAgain(cluster, running.worker) };
		}
		events.push({ what, fromMs, untilMs: Date.now() });
	}
	await untilMinute(minutes);
	return events;
}
