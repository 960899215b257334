export const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Asks again and again until the condition holds; throws when it takes too long. */
export async function until(
	what: string,
	condition: () => boolean | Promise<boolean>,
	timeoutMs = 60_000,
	everyMs = 100,
): Promise<void> {
	const deadline = Date.now() + timeoutMs;
	while (!(await condition())) {
		if (Date.now() > deadline) throw new Error(`After ${timeoutMs / 1000} s still waiting until ${what}`);
		await pause(everyMs);
	}
}
