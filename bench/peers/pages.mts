/** Writes what was measured into docs/evidence/speed.md. */
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { withSection } from '../../tools/docs/section.mts';
import { n8nVersion } from '../../tools/install/n8n.mjs';
import { projectDir } from '../../tools/paths.mjs';
import type { Figure, Row } from './measure.mts';
import type { PeerName } from './peers.mts';
import { drawWallTime } from './picture.mts';

/** Of the tasks in the picture. */
const pictureSeconds = 12;

/** Returns the table with everything. */
export function writePages(rows: Row[]): string {
	const picture = drawWallTime(rows.filter(({ taskSeconds }) => taskSeconds === pictureSeconds));
	writeFileSync(join(projectDir, 'docs', 'images', 'wall-time.svg'), picture);
	const measured = `Measured on ${new Date().toISOString().slice(0, 10)} with n8n ${n8nVersion} on ${cpus().length} cores (${cpus()[0]?.model.trim()})`;
	const full = table(
		rows,
		({ isComputed, wallSeconds, requests }) =>
			`${isComputed ? '≈ ' : ''}${inWords(wallSeconds)} s, ${number(requests)}`,
	);
	write(join('docs', 'evidence', 'speed.md'), `${measured}, wall time and number of requests:\n\n${full}`);
	return full;
}

function write(file: string, text: string) {
	const path = join(projectDir, file);
	writeFileSync(path, withSection(readFileSync(path, 'utf8'), 'peers', text));
}

function table(rows: Row[], cell: (figure: Figure) => string): string {
	const peers: PeerName[] = ['package', 'loop', 'gemini'];
	return [
		'| Tasks | This package | HTTP Request → Wait → If | n8n’s Gemini node |',
		'|---|---|---|---|',
		...rows.map(
			({ tasks, taskSeconds, figures }) =>
				`| ${tasks} of ${taskSeconds} s | ${peers.map((peer) => cell(figures[peer])).join(' | ')} |`,
		),
	].join('\n');
}

const number = (value: number) => value.toLocaleString('en-US');
/** One decimal place says something below 100 s only. */
const inWords = (seconds: number) => (seconds < 100 ? seconds.toFixed(1) : number(Math.round(seconds)));
