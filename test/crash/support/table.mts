/** The tables in docs/durability.md: what the tests have seen. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withSection } from '../../../tools/docs/section.mts';
import { projectDir } from '../../../tools/paths.mjs';
import { isSwitchedOn } from '../../../tools/suite.mjs';
import type { Outcome } from './outcome.mts';
import type { Victim } from './target.mts';

export interface TableRow {
	words: string;
	withOption: Outcome;
	without: Outcome;
}

const page = join(projectDir, 'docs', 'durability.md');

const PLACES = {
	execution: 'the execution',
	'sub-execution': 'the sub-execution',
	log: 'n8n’s log',
	nowhere: 'your account at the service only',
};

/** Compares what was seen with the page, or writes it where that was asked for. */
export function checkPage(victim: Victim, rows: TableRow[], { mayWrite }: { mayWrite: boolean }): void {
	const table = toTable(victim, rows);
	const old = readFileSync(page, 'utf8');
	const renewed = withSection(old, `crash-${victim}`, table);
	if (mayWrite && isSwitchedOn('write')) writeFileSync(page, renewed);
	else
		assert.ok(
			old === renewed,
			`docs/durability.md does not say what was seen (npm run test:crash -- sigkill write):\n${table}`,
		);
}

const WHO: Record<Victim, string> = { n8n: 'n8n', worker: 'the worker', main: 'the main process' };

function toTable(victim: Victim, rows: TableRow[]): string {
	if (rows.every(({ withOption, without }) => withOption.alone === 'results' && without.alone === 'results')) {
		return `At each of these moments, with and without Survive Restarts: ${ARRIVE.toLowerCase()}.`;
	}
	// Moments that follow one another and end alike share a line.
	const lines: Array<{ moments: string[]; what: string }> = [];
	for (const { words, withOption, without } of rows) {
		const what = `${inWords(withOption)} | ${inWords(without)}`;
		const last = lines.at(-1);
		if (last?.what === what) last.moments.push(words);
		else lines.push({ moments: [words], what });
	}
	return [
		`| When ${WHO[victim]} is killed … | With Survive Restarts | Without |`,
		'|---|---|---|',
		...lines.map(({ moments, what }) => `| ${moments.join('; ')} | ${what} |`),
	].join('\n');
}

const ARRIVE = 'The results arrive by themselves';

function inWords({ alone, ids, retries }: Outcome): string {
	if (alone === 'results') return ARRIVE;
	const bought = ids.length === 0 ? 'Nothing is bought' : `IDs: ${ids.map((place) => PLACES[place]).join(', ')}`;
	const state = {
		errors: 'An error for each item',
		crashed: 'Crashed',
		nothing: 'Not started',
		workerLost: 'Error, without data',
	}[alone];
	return `${state}. ${bought}. ${retryInWords(retries, ids.length > 0)}`;
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
			? 'A retry starts over'
			: 'A retry starts over, a second one submits nothing';
}
