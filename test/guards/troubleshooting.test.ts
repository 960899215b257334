import { messagesIn } from '../support/messages.mts';
import { readProjectFile } from '../support/sources.mts';

const messages = messagesIn(['core', 'nodes']);

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
			'The service did not accept the API key', // a table of explanations
			'Base URL in the credential is empty', // a template, filled in by the call
			'Task … is complete, but the service gave no result URL',
			'… is …: … allows …', // an issue of the form
			'The service shows api_key only this once: store it now.', // a hint
			'… tasks go on in the service. To get the results, continue with Wait for Task and each task_id.', // a hint made elsewhere
			'Source URL holds the file itself: the service accepts a URL only', // one of several
		]),
	);
	expect(messages.length).toBeGreaterThan(80);
});

test('every message is in the troubleshooting table', () => {
	expect(messages.filter((message) => !explained.includes(message))).toEqual([]);
});

test('the table explains no message that there is not, and none twice', () => {
	expect(explained.filter((message, index) => !messages.includes(message) || explained.indexOf(message) !== index)).toEqual([]);
});
