/** The texts of the catalogue name the facts that they are given, and read well, in every situation. */
import { REASONS, type Reason } from '../../core/errors/catalogue';
import type { Situation } from '../../core/errors/entry';
import { textsOf } from './support';

const reasons = Object.keys(REASONS) as Reason[];
const atMs = Date.UTC(2026, 0, 31, 14, 5);
const time = new Date(atMs).toISOString();

/** Facts that are not named as they are, each with the words that name it. All others are named with their own: «label». */
const FACTS: Record<string, [value: unknown, words: string]> = {
	thing: ['token', 'API key'],
	avatarKind: ['private', 'private'],
	mediaKind: ['video', 'Video'],
	httpStatus: [418, '418'],
	atMs: [atMs, '14:05 UTC'],
	time: [time, '2026-01-31 at 14:05 UTC'],
};
/** The same where a reason has others: a while in place of a time, what can be waited for, and a task that says more. */
const OF_REASON: Partial<Record<Reason, typeof FACTS>> = {
	noFreePlace: { time: ['5 min', '5 min'], sameKey: [true, 'same Purchase Key'] },
	purchaseKeyUnclear: { time: [time, '2026-01-31 around 14:05 UTC'] },
	timedOut: { thing: ['task', 'task'] },
	timedOutEarly: { thing: ['task', 'task'] },
	purchaseKeyConflict: { time: [time, ''] },
};

const operations = ['', 'generate', 'getTask', 'upload'];
const recoveries = ['retry', 'runAgain', 'callAgain'] as const;
const SITUATIONS: Situation[] = operations.flatMap((operation) =>
	recoveries.flatMap((recovery) =>
		[{}, { subExecution: '77' }, { others: 1, unsubmitted: 2 }].map((more) => ({ operation, recovery, ...more })),
	),
);

test.each(reasons)('the texts of the reason %s name every fact that they ask for', (reason) => {
	const asked = new Map<string, string>();
	const get = (_: object, property: string | symbol) => {
		const name = String(property);
		const [value, words] = OF_REASON[reason]?.[name] ?? FACTS[name] ?? [`«${name}»`, `«${name}»`];
		asked.set(name, words);
		return value;
	};
	const facts = new Proxy({}, { get });
	const text = textsOf(reason, facts, { operation: 'generate', recovery: 'retry' }).join('\n');
	expect([...asked.values()].filter((words) => !text.toLowerCase().includes(words.toLowerCase()))).toEqual([]);
	for (const situation of SITUATIONS) {
		const [message, advice] = textsOf(reason, facts, situation);
		expect(message).toMatch(/^\S.*[^\s.]$/);
		expect(advice).toMatch(/^(\S.*\S)?$/);
		expect(`${message}\n${advice}`).not.toMatch(/undefined|null|\[object|!|[ .]\.| {2}| ,/);
	}
});
