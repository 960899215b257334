/** Every message and every advice that a user of the nodes can meet, from the tables that hold them. What is only known at run time is "…". */
import { REASONS, toCode } from '../../core/errors/catalogue';
import { MESSAGES as CREDENTIAL_TEST } from '../../nodes/connection/credentialTest';
import { HINTS } from '../../nodes/run/hints';

type Text = string | ((data: never, ...more: never[]) => string);

/** Reads as "…" whatever is asked of it: a text, a number, a list. */
const UNKNOWN: unknown = new Proxy(() => {}, {
	get: (_, name) => (name === Symbol.toPrimitive ? () => '…' : name === 'serviceAdvice' ? undefined : UNKNOWN),
	apply: () => UNKNOWN,
});

/** Values that a text depends on as a whole. */
const CASES: Array<Record<string, unknown>> = [
	...['task', 'token', 'verification', 'group', 'asset'].map((thing) => ({ thing })),
	...['real', 'private'].map((avatarKind) => ({ avatarKind })),
];

function say(text: Text, values: (name: string) => unknown): string[] {
	if (typeof text === 'string') return [text];
	const data = new Proxy({}, { get: (_, name) => values(String(name)) });
	try {
		const said = String(text(data as never, { operation: '' } as never));
		return said.includes('undefined') ? [] : [said.replace(/…(?: ?…)+/g, '…').trim()];
	} catch {
		return []; // does without what it needs
	}
}

/** With everything known, and with what may be missing left out: all of it, or one at a time. */
function messageOf(text: Text): string[] {
	const asked = new Set<string>();
	const whole = say(text, (name) => (asked.add(name), '…'));
	const without = [...asked].flatMap((left) => say(text, (name) => (name === left ? undefined : '…')));
	return [...whole, ...without, ...say(text, () => undefined)];
}
const adviceOf = (text: Text) => [
	...CASES.flatMap((known) => say(text, (name) => (name in known ? known[name] : UNKNOWN))),
	...messageOf(text),
	...say(text, () => ''),
];
const unique = (texts: string[]) => [...new Set(texts)].filter((text) => /[a-z]/.test(text)).sort();

/** E.g. "Task … is complete, but the service gave no result URL", sorted, each once. */
export const messages = unique([
	...Object.values(REASONS).flatMap(({ message }) => messageOf(message)),
	...Object.values(HINTS).flatMap(messageOf),
	...Object.values(CREDENTIAL_TEST),
]);

/** The messages of each public code. */
export const messagesOfCodes = new Map<string, string[]>();
for (const [reason, { message }] of Object.entries(REASONS)) {
	const code = toCode(reason);
	messagesOfCodes.set(code, unique([...(messagesOfCodes.get(code) ?? []), ...messageOf(message)]));
}

/** The texts below the messages. */
export const advice = unique(Object.values(REASONS).flatMap((row) => adviceOf(row.advice)));
