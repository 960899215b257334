/** The options of a sandbox, and their defaults. */

/** A fixed number of milliseconds, or a range from which each task draws its own. */
export type Duration = number | [number, number];

export interface SandboxOptions {
	/** Port of the API on 127.0.0.1; 0 or absent takes any free one. */
	port?: number;
	/** Port of the result-file host, which is not the API host; 0 or absent takes any free one. */
	filesPort?: number;
	/** Each key is a user of its own. Default: `sandbox-key`. */
	apiKeys?: string[];
	/** Default: 6 to 12 s. */
	imageTaskMs?: Duration;
	/** Default: 12 to 20 s. */
	videoTaskMs?: Duration;
	/** The processing time of an avatar asset. Default: 2 to 4 s. */
	assetMs?: Duration;
	/** API requests that pass within any one second, beyond which 429 is the answer; 0 or Infinity is off. Default: 100. */
	requestsPerSecond?: number;
	/** Tasks that one user can run at once, beyond which 429 is the answer; 0 or Infinity is off. Default: off. */
	tasksAtOnce?: number;
	/** Balance of each user at start. Default: 500 USD, that is 100,000 credits. */
	balanceUsd?: number;
	/** Name of the multipart field that an image upload must use (contract 4.8 leaves it open). Default: `file`. */
	uploadField?: string;
	/** Tasks, uploads, accounts and avatars are kept in this file over a restart; empty keeps nothing. Default: empty. */
	stateFile?: string;
	/** Append the verification result to the callback with a second `?`, as a naive service does. */
	naiveCallback?: boolean;
	/** Clock in milliseconds; with `sleep` and `random` it lets a test run hours in no time. */
	now?: () => number;
	sleep?: (ms: number) => Promise<void>;
	/** At least 0, below 1. */
	random?: () => number;
}

export type Settings = Required<SandboxOptions>;

/** Completes the options; nothing else in the sandbox knows a default. */
export function settle(options: SandboxOptions = {}): Settings {
	return {
		port: options.port ?? 0,
		filesPort: options.filesPort ?? 0,
		apiKeys: options.apiKeys ?? ['sandbox-key'],
		imageTaskMs: options.imageTaskMs ?? [6_000, 12_000],
		videoTaskMs: options.videoTaskMs ?? [12_000, 20_000],
		assetMs: options.assetMs ?? [2_000, 4_000],
		requestsPerSecond: options.requestsPerSecond ?? 100,
		tasksAtOnce: options.tasksAtOnce || Infinity,
		balanceUsd: options.balanceUsd ?? 500,
		uploadField: options.uploadField ?? 'file',
		stateFile: options.stateFile ?? '',
		naiveCallback: options.naiveCallback ?? false,
		now: options.now ?? Date.now,
		sleep: options.sleep ?? sleep,
		random: options.random ?? Math.random,
	};
}

/** The listening server keeps the process alive; an answer that is still waiting must not. */
function sleep(ms: number): Promise<void> {
	return new Promise((resolve) => {
		if (ms !== Infinity) setTimeout(resolve, ms).unref();
	});
}

/** One duration out of the range. */
export function drawMs(duration: Duration, random: () => number): number {
	if (typeof duration === 'number') return duration;
	const [shortest, longest] = duration;
	return Math.round(shortest + (longest - shortest) * random());
}
