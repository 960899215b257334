/** A function that runs work, at most `limit` at the same time and in the order in which it comes. */
export function takingTurns(limit: number): <R>(work: () => Promise<R>) => Promise<R> {
	let running = 0;
	const waiting: Array<() => void> = [];
	return async (work) => {
		if (running === limit) await new Promise<void>((begin) => waiting.push(begin));
		else running++;
		try {
			return await work();
		} finally {
			// Who waits takes over the turn: nobody who comes later can be quicker.
			const next = waiting.shift();
			if (next === undefined) running--;
			else next();
		}
	};
}
