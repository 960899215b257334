import { advice, messages } from '../support/messages.mts';

/** n8n's UX guidelines: say what happened, without words that frighten. The service's own words are only quoted. */
const FRIGHTENING = /\b(errors?|problems?|failures?|failed|mistakes?|invalid)\b/i;

test('messages and advice are found', () => {
	expect(messages).toContain('The service did not accept the API key');
	expect(advice).toContain('Use at most 50 characters.');
	expect(advice.some((text) => text.includes('there might be two tokens'))).toBe(true);
	expect(Math.min(messages.length, advice.length)).toBeGreaterThan(80);
});

test('none speaks of errors, problems, failures or mistakes', () => {
	expect([...messages, ...advice].filter((text) => FRIGHTENING.test(text))).toEqual([]);
});
