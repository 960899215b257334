import { pause } from './until.mts';

const SAMPLE_MS = 5;
const EVERY_MS = 100;

/**
 * Waits for something, and finds out how many times longer this machine takes for work than if it were idle meanwhile: 1
 * on an idle one. Tests run beside others, so what costs n8n a second of processor time takes longer than a second.
 */
export async function withSlowdown<T>(something: Promise<T>): Promise<{ result: T; slowdown: number }> {
	let isOver = false;
	const over = () => (isOver = true);
	void something.then(over, over);
	let [took, used] = [0, 0];
	while (!isOver) {
		const sample = work();
		took += sample.took;
		used += sample.used;
		await pause(EVERY_MS);
	}
	return { result: await something, slowdown: used === 0 ? 1 : Math.max(1, took / used) };
}

/** Milliseconds that some work takes, and those in which it had a processor. */
function work(): { took: number; used: number } {
	const [startedAtMs, before] = [performance.now(), process.cpuUsage()];
	for (;;) {
		const { user, system } = process.cpuUsage(before);
		const used = (user + system) / 1000;
		if (used >= SAMPLE_MS) return { took: performance.now() - startedAtMs, used };
	}
}
