const MIB = 1024 ** 2;

/** What the host of a result file may do before the node gives it up. The service names the host: nobody has checked it. */
export const FILE_LIMITS = {
	/** Files of one task. */
	files: 100,
	/** Bytes of all files of a task, as they are stored. */
	bytes: 1024 * MIB,
	/** The same where n8n holds a file in memory, at least while it stores it. */
	bytesInMemory: 512 * MIB,
	/** Until the file begins, redirects included. Milliseconds, as all that follow. */
	openMs: 60_000,
	/** Without a single byte. */
	silenceMs: 30_000,
	/** After that, a file must have come with at least … */
	graceMs: 120_000,
	/** … so many bytes per second on average. */
	bytesPerSecond: 10_000,
	/** For all files of a task. */
	taskMs: 3_600_000,
	/** No try begins when the tries of a file have taken longer. */
	triesMs: 120_000,
	/** A delivery that takes longer makes room for others. */
	turnMs: 60_000,
};
