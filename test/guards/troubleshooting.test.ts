import { messages } from '../support/messages.mts';
import { readProjectFile } from '../support/sources.mts';

/** The first column of every table with messages. */
const explained = readProjectFile('docs/troubleshooting.md')
	.split(/^## No message/m)[0]
	.split('\n')
	.flatMap((line) => /^\| (.+?) \| .* \| .* \|$/.exec(line)?.[1] ?? [])
	.filter((cell) => cell !== 'Message')
	.map((cell) => cell.replaceAll('`', ''));

test('messages are found wherever they are made', () => {
	expect(messages).toEqual(
		expect.arrayContaining([
			'The service did not accept the API key', // an answer of the service
			'… in the credential is empty', // of the credential
			'Task … is complete, but the service gave no result URL',
			'… is …: … allows …', // of a model
			'The service shows api_key only this once: store it now.', // a hint
			'… tasks are still running at the service. To get their results, create a new workflow: a trigger, and behind it Wait for Task with each task_id. Running this node again buys new tasks. n8n may do so for a node behind it: pin this output before you add one.', // a hint for several items
			'… contains the file itself: the service accepts a URL only', // of the form
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
