/** The consequences of the kind of an error, whatever its reason: the functions below say what each means. */
type Consequence = 'isTransient' | 'endsSubmitting' | 'refusesAccess' | 'isOfOthers' | 'sparesBatch';

/** `endsTheSame`: `permanent` where the error says so. */
type Kind = Partial<Record<Consequence, true>> & { endsTheSame?: 'always' | 'permanent' };

const KINDS = {
	/** Known before anything was sent. */
	badInput: {},
	/** 401, and other refusals of everything that the account asks for. */
	authentication: { endsSubmitting: true, refusesAccess: true },
	/** 402, or words of an empty account with any status. */
	balance: { endsSubmitting: true, refusesAccess: true },
	/** 403: others with the same scope would meet it, too. */
	permission: { refusesAccess: true },
	/** 404, or a code that says the same. */
	notFound: {},
	/** Any other 4xx: the request itself is not acceptable. */
	rejected: { endsTheSame: 'always' },
	contentPolicy: { endsTheSame: 'always' },
	/** 429 for longer than it is sent again. */
	rateLimited: { isTransient: true },
	/** The service, a proxy in front of it, or n8n itself cannot answer now. */
	unavailable: { isTransient: true },
	/** No connection. */
	unreachable: { isTransient: true },
	/** An answer that is not this service's. */
	unexpectedAnswer: {},
	/** A creating request may or may not have been accepted. */
	outcomeUnknown: {},
	/** The task exists, and the service does not say how it is. */
	notShown: { sparesBatch: true },
	taskFailed: { endsTheSame: 'permanent' },
	taskTimedOut: {},
	/** Completed, but without a result URL. */
	noResult: { endsTheSame: 'permanent' },
	download: { endsTheSame: 'permanent' },
	/** Held back because of what happened to another item. */
	notSubmitted: { isOfOthers: true },
	stopped: { isOfOthers: true },
	/** Of this package: it ends at once and names itself. */
	ownMistake: { endsTheSame: 'always' },
} as const satisfies Record<string, Kind>;

export type GatewayErrorKind = keyof typeof KINDS;

/** An error with as much of it as decides about what follows. */
interface ErrorOfKind {
	kind: GatewayErrorKind;
}

/** Nothing follows from a kind that only another version of the package has, in a stored order. */
const kindOf = ({ kind }: ErrorOfKind): Kind => (KINDS as Partial<Record<string, Kind>>)[kind] ?? {};

/** True for an answer after which the account cannot buy anything more, whatever the request. */
export const endsSubmitting = (error: ErrorOfKind): boolean => kindOf(error).endsSubmitting === true;

/** True where the service refuses the key or the account: this says nothing of what was asked for. */
export const refusesAccess = (error: ErrorOfKind): boolean => kindOf(error).refusesAccess === true;

/** True where the kind alone says that a read may end otherwise a moment later. */
export const passesByItself = (error: ErrorOfKind): boolean => kindOf(error).isTransient === true;

/** True for an error of the item itself: not because of what happened to another one, or of a stop. */
export const isOwn = (error: ErrorOfKind): boolean => kindOf(error).isOfOthers !== true;

/** True where the other items go on, also where the node stops at errors: nothing has failed. */
export const sparesBatch = (error: ErrorOfKind): boolean => kindOf(error).sparesBatch === true;

/** True where a retry of the same item ends in the same way, so that the others would never get through. */
export function endsTheSame(error: ErrorOfKind & { details: { permanent?: boolean } }): boolean {
	const { endsTheSame: when } = kindOf(error);
	return when === 'always' || (when === 'permanent' && error.details.permanent === true);
}
