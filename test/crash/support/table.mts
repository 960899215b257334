/** The tables in docs/durability.md: what the tests have seen. */
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

export interface TableRow {
	words: string;
	/** In the sequence of the columns. */
	outcomes: Array<[way: Way, Outcome]>;
}

const page = join(projectDir, 'docs', 'durability.md');

const PLACES = {
	execution: 'the execution',
	'sub-execution': 'the sub-execution',
	dataTable: 'the data table',
	log: 'n8n’s log',
	nowhere: 'your account at the service only',
};

/** Compares what was seen with the page, or writes it where that was asked for. */
export function checkPage(victim: Victim, rows: TableRow[], { mayWrite }: { mayWrite: boolean }): void {
	const table = toTable(victim, rows);
	const old = readFileSync(page, 'utf8');
	const renewed = withSection(old, `crash-${victim}`, table);
	if (mayWrite && isSwitchedOn('write')) writeFileSync(page, renewed);
	else {
		const lines = old.split('\n');
		const others = table.split('\n').filter((line) => !lines.includes(line));
		assert.ok(
			old === renewed,
			`docs/durability.md does not say what was seen (npm run test:crash -- sigkill write):\n${others.join('\n')}`,
		);
	}
}

const COLUMNS: Record<Way, string> = {
	with: 'Arrives by itself, with Across Restarts | What else to do',
	log: 'With Until Ready, the default',
	without: 'With Until Ready, without a table',
};

const WHO: Record<Victim, string> = { n8n: 'n8n', worker: 'the worker', main: 'the main process' };

function toTable(victim: Victim, rows: TableRow[]): string {
	if (rows.every(({ outcomes }) => outcomes.every(([, { alone }]) => alone === 'results'))) {
		return 'At each of these moments, with and without Across Restarts: the results arrive by themselves.';
	}
	// Moments that follow one another and end alike share a line.
	const lines: Array<{ moments: string[]; what: string }> = [];
	for (const { words, outcomes } of rows) {
		const cells = outcomes.map(([way, outcome]) =>
			way === 'with' ? `${arrival(outcome)} | ${inWords(outcome)}` : inWords(outcome),
		);
		const what = cells.join(' | ');
		const last = lines.at(-1);
		if (last?.what === what) last.moments.push(words);
		else lines.push({ moments: [words], what });
	}
	const header = [`When ${WHO[victim]} is killed …`, ...(rows[0]?.outcomes.map(([way]) => COLUMNS[way]) ?? [])].join(
		' | ',
	);
	return [
		`| ${header} |`,
		`|${'---|'.repeat(header.split('|').length)}`,
		...lines.map(({ moments, what }) => `| ${moments.join('; ')} | ${what} |`),
	].join('\n');
}

/** Of what the service had accepted before n8n was killed. */
function arrival({ alone, ids, retries }: Outcome): string {
	if (alone === 'results') return 'All';
	if (alone === 'doubtful')
		return ids.includes('log') ? 'All of the first wave' : 'All but what had not been saved for a second';
	if (ids.length === 0) return 'Nothing was accepted';
	const hadArrived =
		retries.includes('results') || ids.some((place) => place === 'execution' || place === 'sub-execution');
	return hadArrived ? 'Had arrived' : 'No: the first wave was not over';
}

function inWords({ alone, ids, retries, later }: Outcome): string {
	if (alone === 'results') return 'Nothing';
	if (alone === 'doubtful')
		return `The items in doubt say so${ids.includes('log') ? `. IDs of some: ${PLACES.log}` : ''}`;
	const bought = ids.length === 0 ? 'Nothing is bought' : `IDs: ${ids.map((place) => PLACES[place]).join(', ')}`;
	const state = {
		errors: 'An error for each item',
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
