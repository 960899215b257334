/** Waits until something is so, and throws when it does not come: a loop without an end would keep the test runner from ending. */
export async function until(what: string, isSo: () => boolean, timeoutMs = 30_000): Promise<void> {
	const deadline = Date.now() + timeoutMs;
	while (!isSo()) {
		if (Date.now() > deadline) throw new Error(`${what}: not within ${timeoutMs / 1000} s`);
		await pause(100);
	}
}

export const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
