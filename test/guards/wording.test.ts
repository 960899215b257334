import { wordsOfMessages } from '../support/sources.mts';

/** n8n's UX guidelines: say what happened, without words that frighten. The service's own words are only quoted. */
const FRIGHTENING = /\b(errors?|problems?|failures?|failed|mistakes?|invalid)\b/i;

const messages = [...wordsOfMessages('core'), ...wordsOfMessages('nodes')];

test('the messages are found', () => {
	const texts = messages.map(({ text }) => text);
	expect(texts).toContain('The service did not accept the API key');
	expect(texts.some((text) => text.includes('Nothing was sent'))).toBe(true);
	expect(messages.length).toBeGreaterThan(80);
});

test('no message speaks of errors, problems, failures or mistakes', () => {
	expect(messages.filter(({ text }) => FRIGHTENING.test(text))).toEqual([]);
});
