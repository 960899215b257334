export const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Most conditions ask n8n, which has other things to do: the longer it takes, the less often. */
const sometimes = (elapsedMs: number) => Math.min(500, Math.max(100, elapsedMs / 20));

/** Waiting alone must not fail a test: another machine may be four times as slow. */
const PATIENCE_MS = 300_000;

/** Asks again and again until the condition holds; throws when it takes too long. */
export async function until(
	what: string,
	condition: () => boolean | Promise<boolean>,
	{ withinMs = PATIENCE_MS, everyMs }: { withinMs?: number; everyMs?: number } = {},
): Promise<void> {
	const begunAtMs = Date.now();
	while (!(await condition())) {
		const elapsedMs = Date.now() - begunAtMs;
		if (elapsedMs > withinMs) throw new Error(`After ${withinMs / 1000} s still waiting until ${what}`);
		await pause(everyMs ?? sometimes(elapsedMs));
	}
}
