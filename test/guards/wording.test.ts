import type { INodeProperties } from 'n8n-workflow';
import { TABLE_NAME } from '../../core/purchases/purchaseRow';
import { advice, messages } from '../support/messages.mts';
import { loadPackage } from '../support/sources.mts';

/** n8n's UX guidelines: say what happened, without words that frighten. The service's own words are only quoted. */
const FRIGHTENING = /\b(errors?|problems?|failures?|failed|mistakes?|invalid)\b/i;

test('messages and advice are found', () => {
	expect(messages).toContain('The service did not accept the API key');
	expect(advice).toContain('Use at most 50 characters.');
	expect(advice.some((text) => text.includes('Look in the task list of your account'))).toBe(true);
	expect(Math.min(messages.length, advice.length)).toBeGreaterThan(80);
});

test('none speaks of errors, problems, failures or mistakes', () => {
	expect([...messages, ...advice].filter((text) => FRIGHTENING.test(text))).toEqual([]);
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

const NAMES_OF_N8N = ['When Executed by Another Workflow', 'Loop Over Items', 'HTTP Request'];
/** The two fields whose names begin with the kind; the data table; and words with capitals that are no labels. */
const OTHERS = ['Task Status Path', TABLE_NAME, 'URLs', 'IDs'];

/** Words with capitals in a row, such as "Lower Requests per Second": a label, perhaps after the first word of a sentence. */
const PHRASE = /\b[A-Z]\w*(?: (?:(?:a|by|for|of|per|until) )?(?:[A-Z]\w*|\([A-Za-z ]+\)))+/g;
const phrasesOf = (text: string) => [...text.matchAll(PHRASE)].map(([phrase]) => phrase);
const endsWithOneOf = (labels: string[]) => (phrase: string) =>
	labels.some((label) => phrase === label || phrase.endsWith(` ${label}`));

test('a phrase is recognized by its capitals', () => {
	expect(phrasesOf('Lower Requests per Second or Concurrent Tasks. Choose Other Model (by ID).')).toEqual([
		'Lower Requests per Second',
		'Concurrent Tasks',
		'Choose Other Model (by ID)',
	]);
});

test('every label that advice names is in a form', async () => {
	const { nodes, credentials } = await loadPackage();
	const forms = [...nodes.map(({ instance }) => instance.description), ...credentials.map(({ instance }) => instance)];
	const shown = forms.flatMap(({ displayName, properties }) => [displayName, ...labelsOf(properties)]);
	const labels = [...shown, ...shown.map((label) => label.replace(/ \([^)]*\)$/, '')), ...NAMES_OF_N8N, ...OTHERS];
	const phrases = [...new Set(advice.flatMap(phrasesOf))];
	expect(phrases.length).toBeGreaterThan(30);
	expect(phrases.filter((phrase) => !endsWithOneOf(labels)(phrase))).toEqual([]);
});
