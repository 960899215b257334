import { gatewayError } from '../../core/errors';
import { REASONS, toCode, type DataOf, type Reason } from '../../core/errors/catalogue';
import { describe as describeError } from '../../core/errors/describe';
import { messages, messagesOfCodes } from '../support/messages.mts';
import { readProjectFile } from '../support/sources.mts';
import { IN_ITEMS_ONLY, withCosts } from '../../tools/docs/costs.mts';

/** The cells of every row of a table with messages. */
const rows = readProjectFile('docs/troubleshooting.md')
	.split(/^## No message/m)[0]
	.split('\n')
	.filter((line) => line.startsWith('| '))
	.map((line) =>
		line
			.split('|')
			.slice(1, -1)
			.map((cell) => cell.trim()),
	)
	.filter(([message]) => message !== 'Message')
	.map(([message, code, ...more]) => ({ message: message.replaceAll('`', ''), code, more }));
const explained = rows.map(({ message }) => message);

test('messages are found wherever they are made', () => {
	expect(messages).toEqual(
		expect.arrayContaining([
			'The service did not accept the API key', // an answer of the service
			'… in the credential is empty', // of the credential
			'Task … is complete, but the service gave no result URL',
			'… is …: … allows …', // of a model
			'The service shows api_key only this once: store it now.', // a hint
			'… tasks are still running at the service. To get their results, create a new workflow: a trigger, and behind it Wait for Task with each task_id. Running this node again creates new tasks, and you pay again. n8n may do so for a node behind it: pin this output before you add one (n8n pins no output with files).', // a hint for several items
			'… contains the file itself: the field takes a URL only', // of the form
		]),
	);
	expect(messages.length).toBeGreaterThan(80);
});

/** A row may say more than the message: "Base URL in the credential is empty" is a case of "… in the credential is empty". */
const isCaseOf = (message: string) => {
	const pattern = new RegExp(`^${message.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('…', '.+')}$`);
	return (row: string) => pattern.test(row);
};

test('a row is found by what is fixed in the message', () => {
	const isEmpty = isCaseOf('… in the credential is empty (…)');
	expect(
		['Base URL in the credential is empty (x)', 'Base URL is empty (x)', 'Base URL in the credential is empty x'].map(
			isEmpty,
		),
	).toEqual([true, false, false]);
});

test('every message is in the troubleshooting table', () => {
	expect(messages.filter((message) => !explained.some(isCaseOf(message)))).toEqual([]);
});

test('the table explains no message that there is not, and none twice', () => {
	expect(
		explained.filter(
			(row, index) => !messages.some((message) => isCaseOf(message)(row)) || explained.indexOf(row) !== index,
		),
	).toEqual([]);
});

/** The row of each code: `<a id="key_refused"></a>` and the code itself. */
const homes = rows.flatMap(({ message, code }) =>
	[...code.matchAll(/<a id="(\w+)"><\/a>`(\w+)`/g)].map(([, anchor, shown]) => ({ message, anchor, shown })),
);

test('every code has one anchor, and no anchor is of a code that there is not', () => {
	expect(homes.map(({ anchor }) => anchor).sort()).toEqual([...messagesOfCodes.keys()].sort());
	expect(homes.filter(({ anchor, shown }) => anchor !== shown)).toEqual([]);
	expect(readProjectFile('docs/troubleshooting.md').match(/<a id=/g)).toHaveLength(homes.length);
});

const belongsTo = (code: string, row: string) =>
	messagesOfCodes.get(code)?.some((message) => isCaseOf(message)(row)) === true;

test('a code stands beside its own message', () => {
	expect(homes.filter(({ message, anchor }) => !belongsTo(anchor, message))).toEqual([]);
});

test('a row without an anchor links to the code of its message, if that has one', () => {
	const without = rows.filter(({ code, more }) => more.length === 3 && !code.includes('<a id='));
	const linked = without.map(({ message, code }) => ({ message, code: /^\[`(\w+)`\]\(#\1\)$/.exec(code)?.[1] }));
	const codesOf = (row: string) => [...messagesOfCodes.keys()].filter((code) => belongsTo(code, row));
	expect(
		linked.filter(({ message, code = '' }) => (code === '' ? codesOf(message).length > 0 : !belongsTo(code, message))),
	).toEqual([]);
});

test('every code has a cause, a cost and a way on', () => {
	const [header] = readProjectFile('docs/troubleshooting.md').match(/^\| Message .*$/m) ?? [];
	expect(header).toBe('| Message | Code | What happened | Cost | What to do |');
	const ofCodes = rows.filter(({ code }) => code.includes('<a id='));
	expect(ofCodes.filter(({ more }) => more.length !== 3 || more.includes(''))).toEqual([]);
});

test('the costs are those of the catalogue (npm run docs)', () => {
	const page = readProjectFile('docs/troubleshooting.md');
	expect(withCosts(page)).toBe(page);
	const [row = ''] = page.match(/^.*<a id="task_failed">.*$/m) ?? [];
	const stale = page.replace(row, row.replace('A new try buys another one', 'Nothing'));
	expect(withCosts(stale)).toBe(page);
});

/** The sentences of a panel about the retry, or about the node elsewhere, and what costs money instead. */
const WAY_ON =
	/[Rr]etry this execution in the Executions list: (?:it continues|that creates) .*?pay again\.|To get its result, .*?pay again\./;
const known = new Proxy({}, { get: (_, name) => (name === 'thing' ? 'task' : 'x') });

test('the way on is in the words of the panel', () => {
	const panels = (Object.keys(REASONS) as Reason[]).flatMap((reason) => {
		const recovery = IN_ITEMS_ONLY.has(reason) ? 'runAgain' : 'retry';
		const panel = describeError(gatewayError(reason, known as DataOf<Reason>), { operation: 'generate', recovery });
		const [words] = WAY_ON.exec(panel) ?? [];
		return words === undefined ? [] : [{ code: toCode(reason), words }];
	});
	expect(panels.length).toBeGreaterThan(12);
	const cellOf = (code: string) => rows.find((row) => row.code.includes(`<a id="${code}">`))?.more.at(-1) ?? '';
	expect(panels.filter(({ code, words }) => !cellOf(code).includes(words))).toEqual([]);
});
