import { REASONS, toCode, type Reason } from '../../core/errors/catalogue';
import { readProjectFile } from '../support/sources.mts';
import { withCosts } from '../../tools/docs/costs.mts';

const page = readProjectFile('docs/troubleshooting.md');
/** The rows with a code, such as `<a id="key_refused"></a>` and the code itself; some have several. */
const rows = (page.match(/^\|.*<a id=.*$/gm) ?? []).map((row) => {
	const cells = row.split('|').slice(1, -1);
	return cells.map((cell) => cell.trim());
});
const homes = [...page.matchAll(/<a id="(\w+)"><\/a>`(\w+)`/g)].map(([, anchor, code]) => ({ anchor, code }));

test('every code has one row with its anchor, and no row has a code that there is not', () => {
	const codes = new Set((Object.keys(REASONS) as Reason[]).map(toCode));
	expect(homes.map(({ code }) => code).sort()).toEqual([...codes].sort());
	expect(homes.filter(({ anchor, code }) => anchor !== code)).toEqual([]);
	expect(page.match(/<a id=/g)).toHaveLength(homes.length);
});

test('every code has a message, a cause, a cost and a way on', () => {
	expect(page).toContain('| Message | Code | What happened | Cost | What to do |');
	expect(rows.filter((cells) => cells.length !== 5 || cells.includes(''))).toEqual([]);
});

test('the costs are those of the catalogue (npm run docs)', () => {
	expect(withCosts(page)).toBe(page);
	const [row = ''] = page.match(/^.*<a id="task_failed">.*$/m) ?? [];
	const stale = page.replace(row, row.replace('A new try buys another one', 'Nothing'));
	expect(stale).not.toBe(page);
	expect(withCosts(stale)).toBe(page);
});
