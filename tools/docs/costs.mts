/** The column Cost of the tables in docs/troubleshooting.md, written from the catalogue. */
import { REASONS, toCode, type Reason } from '../../core/errors/catalogue.ts';
import { AVATARS } from '../../core/errors/reasons/avatars.ts';
import { PURCHASES } from '../../core/errors/reasons/purchases.ts';

/** The words for each case. As far as the service's documentation shows, only tasks cost something. */
const COSTS = {
	nothingSent: 'Nothing: the request was not sent',
	nothingBought: 'Nothing: no task was bought',
	unknown: 'Perhaps: the outcome is unknown',
	earlier: 'An earlier try was bought. Nothing was bought now',
	continues: 'A retry continues the task and costs nothing',
	kept: 'The task was bought. Get Result gets its result and costs nothing',
	again: 'The task was bought. A new try buys another one',
	bought: 'The task was bought. Running Generate again buys another one',
	running: 'Accepted tasks were bought, and go on',
	refused: 'Nothing for this request. A retry continues tasks that exist',
} as const;

/** Reasons about what n8n has stored of an item, which becomes one of the output: no run of Generate ends with them. */
export const IN_ITEMS_ONLY: ReadonlySet<string> = new Set<Reason>([
	'resultNotPassedOn',
	'storedItemUnreadable',
	'storedByOtherVersion',
	'waitingInterrupted',
]);

/** Reasons whose cost is not that of their kind: a key can be refused while tasks that it has bought are polled. */
const KNOWN: Partial<Record<Reason, string>> = {
	taskDeclined: COSTS.bought,
	accessBlocked: COSTS.refused,
	keyRefused: COSTS.refused,
	noKeySent: COSTS.refused,
	createdFromOtherRequest: COSTS.earlier,
	tokenNotCreated: COSTS.nothingBought,
	tokenKeyGone: COSTS.nothingBought,
};

/** The cost when this happens, and the cost of continuing. */
function costOf(reason: Reason): string {
	const { kind = 'badInput', created, retryContinues } = REASONS[reason];
	if (IN_ITEMS_ONLY.has(reason)) return COSTS.kept;
	if (retryContinues) return COSTS.continues;
	const known = KNOWN[reason];
	if (known !== undefined) return known;
	if (created === 'nothing') return COSTS.nothingBought;
	if (kind === 'outcomeUnknown') return COSTS.unknown;
	if (kind === 'badInput') return COSTS.nothingSent;
	if (reason in AVATARS || reason in PURCHASES) return COSTS.nothingBought;
	if (kind === 'taskFailed') return COSTS.again;
	if (kind === 'download' || kind === 'noResult') return COSTS.bought;
	return kind === 'stopped' ? COSTS.running : COSTS.refused;
}

const HEADER = /^\| Message \| Code \| What happened \|( Cost \|)? What to do \|$/;

/** The page with the column in every table of codes. */
export function withCosts(page: string): string {
	let columns = 0;
	const lines = page.split('\n').map((line) => {
		if (!line.startsWith('|')) columns = 0;
		const header = HEADER.exec(line);
		if (header !== null) columns = header[1] === undefined ? 4 : 5;
		if (columns === 0) return line;
		const cells = line.split('|').slice(1, -1);
		const cost = header !== null ? ' Cost ' : /^-+$/.test(cells[0] ?? '') ? '---' : ` ${costOfRow(cells)} `;
		cells.splice(3, columns - 4, cost);
		return `|${cells.join('|')}|`;
	});
	return lines.join('\n');
}

/** The reasons that also have a message for an item without a known task. */
const WITHOUT_TASK: Partial<Record<Reason, string>> = {
	resultNotPassedOn: COSTS.running,
	storedItemUnreadable: COSTS.running,
	storedByOtherVersion: COSTS.running,
	waitingNotStarted: COSTS.nothingBought,
};

/** A row without a code says something about the credential. */
function costOfRow([message = '', cell = '']: string[]): string {
	const [, code] = /`(\w+)`/.exec(cell) ?? [];
	const reason = Object.keys(REASONS).find((name) => toCode(name) === code) as Reason | undefined;
	if (reason === undefined) return COSTS.nothingBought;
	return (message.includes('this item') && WITHOUT_TASK[reason]) || costOf(reason);
}
