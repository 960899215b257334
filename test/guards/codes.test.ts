/** The page of errors has every code of the catalogue, with a cause, a cost and the next step. */
import { REASONS, toCode, type Reason } from '../../core/errors/catalogue';
import { allCodes } from '../../tools/docs/codes.mts';
import { CODE_TEXTS } from '../../tools/docs/codeTexts.mts';
import { readProjectFile } from '../support/sources.mts';

const page = readProjectFile('docs/reference/errors.md');

test('every code is on the page once, and no other code is', () => {
	const codes = new Set((Object.keys(REASONS) as Reason[]).map(toCode));
	const there = [...page.matchAll(/^\| <a id="\w+"><\/a>`(\w+)`/gm)].map(([, code]) => code);
	expect(there.sort()).toEqual([...codes].sort());
});

test('every code has a next step, in few words, and no other code has', () => {
	expect(Object.keys(CODE_TEXTS).sort()).toEqual(allCodes().sort());
	const long = Object.values(CODE_TEXTS)
		.flat()
		.filter((text) => text.split(' ').length > 16);
	expect(long).toEqual([]);
});

test.each([
	['outcome_unknown', 'unknown'],
	['task_failed', 'again'],
	['timed_out', 'free or paid'],
	['balance_too_low', 'free'],
	['content_declined', 'free or again'],
])('%s costs: %s', (code, cost) => {
	const [row = ''] = page.match(new RegExp(`^.*<a id="${code}">.*$`, 'm')) ?? [];
	expect(row.split(' | ')[1]).toBe(cost);
});
