/** Every message that a user of the nodes can meet, from the tables that hold them. What is only known at run time is "…". */
import { REASONS, type DataOf, type Reason } from '../../core/errors/catalogue';
import { MESSAGES as CREDENTIAL_TEST } from '../../nodes/connection/credentialTest';
import { HINTS } from '../../nodes/run/hints';

type Text = string | ((facts: never, ...more: never[]) => string);
type Hint = keyof typeof HINTS;

type Optional<Data> = {
	[Name in keyof Data]-?: Record<string, never> extends Pick<Data, Name> ? Name : never;
}[keyof Data];
type WithOptional<Data> = { [Name in keyof Data as [Optional<Data[Name]>] extends [never] ? never : Name]: Data[Name] };
type Missing<Data> = { [Name in keyof WithOptional<Data>]: Record<Optional<Data[Name]>, true> };

const NAMED_RUN = { run: true, otherRun: true } as const;

/** The facts that a text may have to do without. The types of the texts say which: one that is not named here is no TypeScript. */
const OF_REASONS: Missing<{ [R in Reason]: DataOf<R> }> = {
	modelNotFound: { model: true },
	rateLimited: { fullFor: true },
	noFreePlace: { sameKey: true },
	answerLacks: { other: true },
	serviceRedirects: { target: true },
	outcomeUnknown: { atMs: true, ...NAMED_RUN },
	outcomeStillUnknown: { atMs: true, what: true, ...NAMED_RUN },
	createdFromOtherRequest: { atMs: true, ...NAMED_RUN },
	notSubmitted: { scope: true },
	purchaseKeyConflict: { id: true },
	purchaseKeyUnclear: { id: true, ...NAMED_RUN },
	createdTaskNotFound: { age: true, wasFound: true, ...NAMED_RUN },
	createdTaskElsewhere: NAMED_RUN,
	createdTaskNotShown: NAMED_RUN,
	taskDeclined: NAMED_RUN,
	timedOut: { status: true, progress: true, trouble: true },
	timedOutAlone: { status: true, progress: true },
	noResultUrl: { path: true },
	resultNotPassedOn: { id: true },
	storedItemUnreadable: { id: true },
	storedByOtherVersion: { id: true },
	waitingNotStarted: { id: true },
	waitingInterrupted: { why: true },
	submissionStopped: { why: true },
	tokenNotCreated: { atMs: true, ...NAMED_RUN },
	tokenKeyGone: NAMED_RUN,
	noVerificationLink: { status: true },
	fieldEmpty: { enter: true },
	valueNotAllowed: { place: true },
	textTooLong: { model: true },
	fileUnreadable: { label: true },
	assetNotAccepted: { takers: true },
	fieldNotForModel: { advice: true, takers: true },
	backgroundNotPossible: { missing: true, why: true },
};
const OF_HINTS: Missing<{ [H in Hint]: Parameters<(typeof HINTS)[H]>[0] }> = {
	tasksRunning: { buysAgain: true },
	awake: { advice: true },
};

/** The names of the facts that a reason or a hint may lack. */
export const optionalFactsOf = (name: string): string[] =>
	Object.keys({ ...OF_REASONS, ...OF_HINTS }[name as never] ?? {});

/** The text of these facts. A text that says "undefined", or cannot be made, fails the test that asks for it. */
export function write(text: Text, fact: (name: string) => unknown, ...more: unknown[]): string {
	const facts = new Proxy({}, { get: (_, name) => fact(String(name)) });
	const said = typeof text === 'string' ? text : text(facts as never, ...(more as never[]));
	if (/undefined|null|NaN|\[object/.test(said)) throw new Error(`Not a text for people: ${said}`);
	return said;
}

/** With every fact, and without each of those that may be missing. */
const variantsOf = (name: string, text: Text): string[] =>
	[undefined, ...optionalFactsOf(name)].map((missing) =>
		write(text, (fact) => (fact === missing ? undefined : '…'))
			.replace(/…(?: ?…)+/g, '…')
			.trim(),
	);
const unique = (texts: string[]) => [...new Set(texts)].filter((text) => /[a-z]/.test(text)).sort();
const reasons = Object.entries(REASONS).map(([name, { message }]) => ({ name, texts: variantsOf(name, message) }));

/** E.g. "Task … is complete, but the service gave no result URL", sorted, each once. */
export const messages = unique([
	...reasons.flatMap(({ texts }) => texts),
	...Object.entries(HINTS).flatMap(([name, hint]) => variantsOf(name, hint)),
	...Object.values(CREDENTIAL_TEST),
]);
