const MIB = 1024 ** 2;

/** The limits of result files and of the hosts that send them. The service names the host, which nothing has checked. */
export const FILE_LIMITS = {
	/** Files of one task. */
	files: 100,
	/** Bytes of all files of a task, as they are stored. */
	bytes: 1024 * MIB,
	/** The same where n8n holds a file in memory, at least while it stores it. */
	bytesInMemory: 512 * MIB,
	/** The time until the file begins, redirects included. Milliseconds, as all that follow. */
	openMs: 60_000,
	/** The longest silence. */
	silenceMs: 30_000,
	/** After this time, a file must have come with at least … */
	graceMs: 120_000,
	/** … so many bytes per second on average. */
	bytesPerSecond: 10_000,
	/** The time for all files of a task. */
	taskMs: 3_600_000,
	/** No other try begins after the tries of a file have taken this long. */
	triesMs: 120_000,
	/** A delivery that takes longer gives its turn to others. */
	turnMs: 60_000,
};
