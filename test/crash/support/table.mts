/** The tables in docs/evidence/crash.md: what the tests have seen. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withSection } from '../../../tools/docs/section.mts';
import { projectDir } from '../../../tools/paths.mjs';
import { isSwitchedOn } from '../../../tools/suite.mjs';
import type { Outcome } from './outcome.mts';
import type { Victim } from './target.mts';

/** With Across Restarts; with Until Ready and the purchase log, the default; without the log. */
export type Way = 'with' | 'log' | 'without';

/** The rows of the table, in their sequence: moments of one row must end alike. */
const ROWS = {
	before: 'before the node runs',
	first: 'while the node waits for the answer to the first request of a model (*Until Ready*: of any item)',
	rest: 'while the rest is submitted, and some requests have no answer',
	asleep:
		'when everything that was sent has an answer: awake, asleep, while no place is free, during a poll or a download',
	resumed: 'after the results have arrived, in a later node',
};

export type RowKey = keyof typeof ROWS;

/** What was seen at a moment of a row. */
export interface Seen {
	row: RowKey;
	way: Way;
	outcome: Outcome;
}

const page = join(projectDir, 'docs', 'evidence', 'crash.md');

const PLACES = {
	execution: 'the execution',
	'sub-execution': 'the sub-execution',
	dataTable: 'the data table',
	log: 'n8n’s log',
	nowhere: 'your account at the service only',
};

/** Compares what was seen with the page, or writes it where that was asked for. */
export function checkPage(victim: Victim, seen: Seen[], { mayWrite }: { mayWrite: boolean }): void {
	const table = toTable(victim, seen);
	const old = readFileSync(page, 'utf8');
	const renewed = withSection(old, `crash-${victim}`, table);
	if (mayWrite && isSwitchedOn('write')) writeFileSync(page, renewed);
	else {
		const lines = old.split('\n');
		const others = table.split('\n').filter((line) => !lines.includes(line));
		assert.ok(
			old === renewed,
			`docs/evidence/crash.md does not say what was seen (npm run test:crash -- sigkill write):\n${others.join('\n')}`,
		);
	}
}

const COLUMNS: Record<Way, string> = {
	with: 'Arrives by itself, with Across Restarts | What else to do',
	log: 'With Until Ready, the default',
	without: 'With Until Ready, without a table',
};

const WHO: Record<Victim, string> = { n8n: 'n8n', worker: 'the worker', main: 'the main process' };

function toTable(victim: Victim, seen: Seen[]): string {
	if (seen.every(({ outcome }) => outcome.alone === 'results')) {
		return 'At each of these moments, with and without Across Restarts: the results arrive by themselves.';
	}
	const ways = (Object.keys(COLUMNS) as Way[]).filter((way) => seen.some((each) => each.way === way));
	const lines = (Object.keys(ROWS) as RowKey[]).map((row) => {
		const cells = ways.map((way) => {
			const outcomes = seen.flatMap((each) => (each.row === row && each.way === way ? [each.outcome] : []));
			const outcome = merge(outcomes, `${row}, ${way}`);
			return way === 'with' ? `${arrival(outcome, row)} | ${inWords(outcome)}` : inWords(outcome);
		});
		return `| ${[ROWS[row], ...cells].join(' | ')} |`;
	});
	const header = [`When ${WHO[victim]} is killed …`, ...ways.map((way) => COLUMNS[way])].join(' | ');
	return [`| ${header} |`, `|${'---|'.repeat(header.split('|').length)}`, ...lines].join('\n');
}

/** The outcome of all moments of a row: of two that differ by what is in doubt, or is left to submit, the one with more of it. */
function merge(outcomes: Outcome[], what: string): Outcome {
	const most = <T extends string>(all: T[], order: readonly T[]) => {
		const different = [...new Set(all)];
		const [first, second, ...others] = different.sort((a, b) => order.indexOf(a) - order.indexOf(b));
		const isAlike =
			second === undefined || (others.length === 0 && order.includes(first as T) && order.includes(second));
		assert.ok(first !== undefined, `${what}: this machine was too busy for any moment of this row`);
		assert.ok(isAlike, `${what}: the moments of a row end in ${different.join(' and ')}`);
		return first;
	};
	const retriesOf = (index: number) => outcomes.flatMap(({ retries }) => retries.slice(index, index + 1));
	const count = Math.max(...outcomes.map(({ retries }) => retries.length));
	return {
		alone: most(
			outcomes.map(({ alone }) => alone),
			['doubtful', 'results'],
		),
		ids: [...new Set(outcomes.flatMap(({ ids }) => ids))].sort(),
		retries: Array.from({ length: count }, (_, index) =>
			most(retriesOf(index), outcomes.some(({ ids }) => ids.includes('dataTable')) ? RETRIES : []),
		),
		open: outcomes.flatMap(({ open }) => open),
		later: Math.max(...outcomes.map(({ later }) => later)),
	};
}

/** Of a run with rows: a retry in which all items are in doubt, or some, or none. */
const RETRIES: ReadonlyArray<Outcome['retries'][number]> = ['doubtful', 'unknown', 'results'];

/** Of what the service had accepted before n8n was killed. */
function arrival({ alone, ids }: Outcome, row: RowKey): string {
	if (alone === 'results') return 'All';
	if (alone === 'doubtful') return 'All that was answered';
	if (ids.length === 0) return 'Nothing was accepted';
	return row === 'resumed' ? 'Had arrived' : 'No: nothing was asleep yet';
}

function inWords({ alone, ids, retries, later }: Outcome): string {
	if (alone === 'results') return 'Nothing';
	if (alone === 'doubtful') return 'The items in doubt say so';
	const bought = ids.length === 0 ? 'Nothing is bought' : `IDs: ${ids.map((place) => PLACES[place]).join(', ')}`;
	const state = {
		errors: 'An error for each item',
		notPassedOn: 'An error for each item',
		crashed: 'Crashed',
		nothing: 'Not started',
		workerLost: 'Error, without data',
	}[alone];
	const hasRows = ids.includes('dataTable') && retries[0] !== 'empty';
	const retried = hasRows ? loggedInWords(retries, later) : retryInWords(retries, ids.length > 0);
	return `${state}. ${bought}. ${retried}`;
}

/** With the purchase log, each retry is what the first one is. */
function loggedInWords([original]: Outcome['retries'], later: number): string {
	const goesOn = 'A retry continues with the tasks';
	return `${goesOn}${later > 0 ? ', and submits the rest' : ''}${original === 'doubtful' ? '. The items in doubt say so' : ''}`;
}

function retryInWords(retries: Outcome['retries'], wasBought: boolean): string {
	const [original, saved] = retries;
	if (original === undefined || saved === undefined) return 'No retry';
	if (original === 'empty') return 'A retry does nothing';
	if (original === 'refused') return 'n8n refuses a retry';
	if (original === 'unknown') return 'A retry submits nothing';
	return wasBought
		? 'A retry continues with the results'
		: saved === 'results'
			? 'A retry starts over, a second one gets the same results'
			: 'A retry starts over, a second one submits nothing';
}
