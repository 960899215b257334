/** The most characters of the models of a run: a row in the purchase log has no more. */
export const LONGEST_MODELS = 200;

/** Notes of a run about the credits of its account. Plain data: it is stored with the orders of the run. */
export interface CreditsNote {
	/** The used credits before its first purchase. Absent where they could not be read. */
	usedBefore?: number;
	/** True when other runs of this process with this account overlapped. */
	shared?: boolean;
	/** The models of all its tasks, where several executions report what it has used. */
	models?: string;
}

/** A run that may spend credits, until a time: Infinity while it is awake. Unix milliseconds. */
export interface SpendingRun {
	note: CreditsNote;
	untilMs: number;
}
