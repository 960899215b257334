/** Notes of a run about the credits of its account. Plain data: it is stored with the orders of the run. */
export interface CreditsNote {
	/** The used credits before its first purchase. Absent where they could not be read. */
	usedBefore?: number;
	/** True when other runs of this process with this account overlapped. */
	shared?: boolean;
}

/** A run that may spend credits, until a time: Infinity while it is awake. Unix milliseconds. */
export interface SpendingRun {
	note: CreditsNote;
	untilMs: number;
}
