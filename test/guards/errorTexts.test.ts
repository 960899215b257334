/** The words of errors: complete in every situation, and short enough to be read. */
import type { INode, INodeProperties, INodePropertyCollection, INodePropertyOptions } from 'n8n-workflow';
import { gatewayError } from '../../core/errors';
import { REASONS, type DataOf, type Reason } from '../../core/errors/catalogue';
import { describe as describeError } from '../../core/errors/describe';
import type { Situation } from '../../core/errors/catalogueEntry';
import { CONNECTION } from '../../core/errors/reasons/connection';
import { CREATING } from '../../core/errors/reasons/creating';
import { PURCHASES } from '../../core/errors/reasons/purchases';
import { RESULTS } from '../../core/errors/reasons/results';
import { TASKS } from '../../core/errors/reasons/tasks';
import { TABLE_NAME } from '../../core/labels';
import { toNodeError } from '../../nodes/errors/toNodeError';
import { HINTS } from '../../nodes/run/hints';
import { messages, optionalFactsOf, write } from '../support/messages.mts';
import { loadPackage, sentencesInCode } from '../support/sources.mts';

const reasons = Object.keys(REASONS) as Reason[];

/** Facts that a text says in other words, and facts of a usual length. Any other is its own name, as «label». */
const FACTS: Record<string, [value: unknown, words: string]> = {
	id: ['vid_0123456789abcdef', 'vid_0123456789abcdef'],
	what: ['No answer came in time', 'No answer came in time'],
	words: ['The database is locked', 'The database is locked'],
	run: ['123456.0', '123456.0'],
	otherRun: ['123450.0', '123450.0'],
	thing: ['task', 'task'],
	avatarKind: ['private', 'private'],
	mediaKind: ['video', 'Video'],
	httpStatus: [418, '418'],
	sameKey: [true, 'same Purchase Key'],
	wasFound: [true, 'found before'],
	atMs: [Date.UTC(2026, 0, 31, 14, 5), '14:05 UTC'],
	time: ['2026-01-31T14:05:00.000Z', '14:05 UTC'],
	megabytes: [1, '1 MB'],
	megabytesWithFiles: [4, '4 MB'],
	values: ['15,000', '15,000'],
};
/** A while in the place of a time; and a task that says more than the time of its purchase. */
const OF_REASON: Partial<Record<Reason, typeof FACTS>> = {
	noFreePlace: { time: ['5 min', '5 min'] },
	notSubmittedAlone: { time: ['30 s', '30 s'] },
	timedOutAlone: { time: ['30 s', '30 s'] },
	purchaseKeyConflict: { time: ['2026-01-31T14:05:00.000Z', ''] },
};
const factOf = (reason: Reason, name: string) => OF_REASON[reason]?.[name] ?? FACTS[name] ?? [`«${name}»`, `«${name}»`];

const ALONE: Situation = { operation: 'generate', recovery: 'retry' };
const SITUATIONS: Situation[] = ['', 'generate', 'getResult', 'upload'].flatMap((operation) =>
	(['retry', 'runAgain', 'callAgain'] as const).flatMap((recovery) =>
		[{}, { subExecution: '77' }, { others: 2 }, { taskIdAt: '{{ $json.task_id }}' }].map((more) => ({
			...{ operation, recovery },
			...more,
		})),
	),
);

test.each(reasons)('the texts of %s name every fact that they ask for, and are whole sentences', (reason) => {
	const asked = new Set<string>();
	const { message, advice } = REASONS[reason];
	// One fact may take the place of another.
	const all = [undefined, ...optionalFactsOf(reason)].flatMap((absent) =>
		[message, advice].map((text) => {
			const fact = (name: string) => (asked.add(name), name === absent ? undefined : factOf(reason, name)[0]);
			return write(text, fact, ALONE).toLowerCase();
		}),
	);
	const missing = [...asked].filter((name) => !all.join('\n').includes(factOf(reason, name)[1].toLowerCase()));
	expect(missing).toEqual([]);
	for (const absent of [undefined, ...optionalFactsOf(reason)]) {
		const fact = (name: string) => (name === absent ? undefined : factOf(reason, name)[0]);
		expect(write(message, fact)).toMatch(/^\S(?!.*(!|[ .]\.| {2}| ,)).*[^\s.]$/);
		for (const situation of SITUATIONS)
			expect(write(advice, fact, situation)).toMatch(/^(\S(?!.*([a-z]!|[ .]\.| {2}| ,)).*\S)?$/);
	}
});

test('a text that lacks a fact, or cannot be made, is noticed', () => {
	const undefinedFact = () => undefined;
	expect(() => write(({ id }: { id: string }) => `Task ${id}`, undefinedFact)).toThrow('Task undefined');
	expect(() => write(({ id }: { id: string }) => id.trim(), undefinedFact)).toThrow(TypeError);
	expect(messages).toContain('Task … is complete, but the service gave no result URL');
});

const errorOf = (reason: Reason) => {
	const facts = new Proxy({}, { get: (_, name) => factOf(reason, String(name))[0] });
	return gatewayError(reason, facts as DataOf<Reason>);
};

/** A retry without a change meets the same end, and the other items of the run with it. */
test.each<Reason>([...reasons.filter((reason) => REASONS[reason].permanent), 'createdTaskTooLarge'])(
	'the advice on %s, which a retry meets again, names a change before any retry',
	(reason) => expect(describeError(errorOf(reason), ALONE)).not.toMatch(/(^|\. )Retry this execution/),
);

test('where nothing changes what such a task ends with, the rest of a batch is reached past its item', () => {
	const node: INode = { id: '1', name: 'Node', type: 'image', typeVersion: 1, position: [0, 0], parameters: {} };
	const context = { node, itemIndex: 0, operation: 'generate' };
	const { description } = toNodeError(errorOf('createdTaskTooLarge'), context, { rest: { others: 1, unsent: 0 } });
	expect(description).toContain('To get the rest, set On Error to Continue');
});

/**
 * Five lines of n8n's error panel, as it is at first: more is not read. Lists of URLs, and records, are not counted, nor
 * what is said about a value that was entered.
 */
const MAX_LENGTH = 300;

/** Reasons with longer texts, and why. */
const LONGER: Partial<Record<Reason, string>> = {
	outcomeUnknown: 'there are two ways, and the wrong one is paid twice',
	createdFromOtherRequest: 'there are two ways, and the wrong one is paid twice',
	outcomeStillUnknown: 'after a crash, there are two places to look at before anybody pays again',
	purchaseKeyUnclear: 'the same',
	tokenNotCreated: 'the same',
	timedOut: 'where the last check failed, that comes last',
	noResultUrl: 'the result may be in the record, or with the service',
	packageBug: 'it says how to report it',
};

/** Reasons that may end one of several tasks while the others go on. Mistakes in a form are found before. */
const AMONG_OTHERS = { ...CONNECTION, ...CREATING, ...PURCHASES, ...TASKS, ...RESULTS, balanceTooLow: {} };

test.each<[string, Partial<Situation>, string[]]>([
	['of one item', {}, reasons],
	['of an item that goes on', { recovery: 'runAgain' }, reasons],
	['of a batch with other tasks', { others: 2 }, Object.keys(AMONG_OTHERS)],
])('the advice %s has at most five lines', (_, more, of) => {
	const texts = (of as Reason[]).map((reason) => ({
		reason,
		text: describeError(errorOf(reason), { ...ALONE, ...more }).replace(
			/ ?(Result URLs|The record):.*| Submit Again for Run has [^.]*\.\d+, which is another run\./,
			'',
		),
	}));
	const long = texts.filter(({ reason, text }) => text.length > MAX_LENGTH && !(reason in LONGER));
	expect(long.map(({ reason, text }) => `${reason} (${text.length}): ${text}`)).toEqual([]);
});

/** Every label that a form shows: of fields, choices, rows, nodes and credentials. */
const labelsOf = (properties: INodeProperties[]): string[] =>
	properties.flatMap(({ displayName, options = [] }) => [
		displayName,
		...options.flatMap((option) => {
			if ('values' in option) return [option.displayName, ...labelsOf(option.values)];
			return 'value' in option ? [option.name] : labelsOf([option]);
		}),
	]);

/** Names of n8n and of the data table, the two fields whose names begin with the kind, and words with capitals. */
const OTHER_NAMES = [
	...['When Executed by Another Workflow', 'Loop Over Items', 'HTTP Request', 'On Error', TABLE_NAME],
	...['Continue (using error output)', 'Agents (not of an AI Agent node)'],
	...['Task Status Path', 'API', 'URLs', 'IDs', 'Result URLs', 'On Webhook Call', 'N8N_DEFAULT_BINARY_DATA_MODE'],
];
/** Words with capitals in a row, such as "Lower Requests per Second": a label, perhaps after the first word of a sentence. */
const PHRASE = /\b[A-Z][\w’']*(?: (?:(?:a|by|for|of|per|until) )?(?:[A-Z][\w’']*|\([A-Za-z ]+\)))+/g;

/** The helps, placeholders and notices of a form. */
const helpsOf = (property: INodePropertyOptions | INodePropertyCollection | INodeProperties): string[] => {
	const { description = '', hint = '', type, displayName } = property as INodeProperties;
	const inside = [
		...((property as INodeProperties).options ?? []),
		...((property as INodePropertyCollection).values ?? []),
	];
	return [description, hint, ...(type === 'notice' ? [displayName] : []), ...inside.flatMap(helpsOf)];
};

test('every label that advice, a hint or a help names is in a form, and an operation is named as there', async () => {
	const { nodes, credentials } = await loadPackage();
	const forms = [...nodes.map(({ instance }) => instance.description), ...credentials.map(({ instance }) => instance)];
	const shown = forms.flatMap(({ displayName, properties }) => [displayName, ...labelsOf(properties)]);
	const short = shown.flatMap((label) => [label.replace(/ \([^)]*\)$/, ''), ...label.split(', ')]);
	const labels = [...shown, ...short, ...OTHER_NAMES];
	const advice = reasons.flatMap((reason) =>
		SITUATIONS.flatMap((situation) =>
			(['task', 'token', 'verification', 'group', 'asset'] as const).map((thing) =>
				write(REASONS[reason].advice, (name) => (name === 'thing' ? thing : factOf(reason, name)[0]), situation),
			),
		),
	);
	const hints = Object.values(HINTS).map((hint) => write(hint as never, (name) => `«${name}»`));
	const helps = forms.flatMap(({ properties }) => properties.flatMap(helpsOf));
	const phrases = [
		...new Set([...advice, ...sentencesInCode(), ...hints, ...helps].flatMap((text) => text.match(PHRASE) ?? [])),
	];
	expect(phrases.length).toBeGreaterThan(50);
	// The words before a label begin a sentence: two labels in a row would be a name that nothing has.
	const isLabel = (phrase: string) =>
		labels.some(
			(label) =>
				phrase === label || (phrase.endsWith(` ${label}`) && !labels.includes(phrase.slice(0, -label.length - 1))),
		);
	expect(phrases.filter((phrase) => !isLabel(phrase))).toEqual([]);
});
