/** The table in docs/durability.md: what the tests have seen. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withSection } from '../../../tools/docs/section.mts';
import { projectDir } from '../../../tools/paths.mjs';
import { isSwitchedOn } from '../../../tools/suite.mjs';
import type { Outcome } from './outcome.mts';

export interface TableRow {
	words: string;
	withOption: Outcome;
	without: Outcome;
}

const page = join(projectDir, 'docs', 'durability.md');

const PLACES = { execution: 'the execution', 'sub-execution': 'the sub-execution', log: 'n8n’s log', nowhere: 'your account at the service only' };

/** Compares the table with the page, or writes it where that was asked for. */
export function checkPage(rows: TableRow[], { mayWrite }: { mayWrite: boolean }): void {
	const table = ['| When n8n ends … | With Survive Restarts | Without |', '|---|---|---|', ...rows.map((row) => `| ${row.words} | ${inWords(row.withOption)} | ${inWords(row.without)} |`)].join('\n');
	const old = readFileSync(page, 'utf8');
	const renewed = withSection(old, 'crash', table);
	if (mayWrite && isSwitchedOn('write')) writeFileSync(page, renewed);
	else assert.ok(old === renewed, `docs/durability.md does not say what was seen (npm run test:crash -- sigkill write):\n${table}`);
}

function inWords({ alone, ids, retries }: Outcome): string {
	if (alone === 'results') return 'The results arrive by themselves';
	const bought = ids.length === 0 ? 'Nothing is bought' : `IDs: ${ids.map((place) => PLACES[place]).join(', ')}`;
	const state = { errors: 'An error for each item', crashed: 'Crashed', nothing: 'Not started' }[alone];
	return `${state}. ${bought}. ${retryInWords(retries, ids.length > 0)}`;
}

function retryInWords(retries: Outcome['retries'], wasBought: boolean): string {
	const [original, saved] = retries;
	if (original === undefined || saved === undefined) return 'No retry';
	if (original === 'refused') return 'n8n refuses a retry';
	if (original === 'unknown') return 'A retry submits nothing';
	return wasBought ? 'A retry continues with the results' : saved === 'results' ? 'A retry starts anew' : 'A retry starts anew, a second one submits nothing';
}
