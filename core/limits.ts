/** Numbers that more than one place goes by: forms, checks, waits, and the advice that names them. Those without a section of the contract are ours. */

/** Characters of the name of a token (contract 4.3). */
export const TOKEN_NAME_LENGTH = 50;

/** Internal units of a balance (contract 1). */
export const UNITS_PER_USD = 500_000;

/** A person has to open the link of a verification within this time (contract 3.3). */
export const VERIFICATION_LINK_SECONDS = 120;
export const VERIFICATION_LINK_MS = VERIFICATION_LINK_SECONDS * 1000;

/** The longest time for a creating request: it may take long where the service checks the images first. */
export const CREATE_TIMEOUT_MS = 120_000;

/** A request leaves so long after its row at the most; else another row is written. n8n has as long for one look at its table. */
export const OLDEST_ROW_MS = 30_000;

/** A request whose row is older has its outcome in the rows, or gets none. */
export const MAY_BE_UNDER_WAY_MS = CREATE_TIMEOUT_MS + OLDEST_ROW_MS + 2_000;

/** A submission is repeated for this long after 429 and 503. */
export const REPEAT_FOR_MS = 120_000;

/** The shortest pause before another try, also after `Retry-After: 0`, or a date that has passed by our clock. */
export const SHORTEST_PAUSE_MS = 500;
