/** Writes what the soak has measured into docs/durability.md, and its picture. */
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { withSection } from '../../../tools/docs/section.mts';
import { n8nVersion } from '../../../tools/install/n8n.mjs';
import { projectDir } from '../../../tools/paths.mjs';
import type { Event } from './events.mts';
import type { Place } from './judge.mts';
import { drawSoak } from './picture.mts';
import { heapsOf, idleTimersOf, type Process } from './samples.mts';

export interface Measured {
	minutes: number;
	span: { startMs: number; endMs: number };
	events: Event[];
	/** By their names in soak.test.mts. */
	figures: Record<string, number>;
	processes: Process[];
}

const PLACES: Array<[Place, string]> = [
	['result', 'the result is in the execution, or in its retry.'],
	[
		'execution',
		'the output of the execution names the task, for example because it failed, did not finish in time, or its file could not be downloaded.',
	],
	['sub-execution', 'the execution was lost, the sub-execution names the task.'],
	['log', 'the execution was lost, n8n’s log names the task.'],
	[
		'lostAnswer',
		'the service lost its answer, so nobody knows the ID. The output, if n8n has kept it, says that the service may or may not have accepted the task.',
	],
	['onItsWay', 'the answer was on its way when the worker ended.'],
];

const page = join(projectDir, 'docs', 'durability.md');

export function writePage({ minutes, span, events, figures, processes }: Measured): void {
	const number = (name: string) => (figures[name] ?? 0).toLocaleString('en-US');
	const sum = (prefix: string) =>
		Object.entries(figures)
			.reduce((total, [name, value]) => total + (name.startsWith(prefix) ? value : 0), 0)
			.toLocaleString('en-US');
	const happened = (what: Event['what']) => events.filter((event) => event.what === what).length;
	const text = [
		`Measured on ${new Date(span.endMs).toISOString().slice(0, 10)} with n8n ${n8nVersion} on ${cpus().length} cores, in ${minutes} minutes: ${happened('restart')} restarts, ${happened('kill')} kills, ${sum('executions ended')} executions with 20 items each, of which ${number('executions ended: success')} succeeded. The others were running when a worker was restarted or killed. Of ${number('requests')} requests to the service, ${number('requests that went wrong')} were answered with an error or not at all.`,
		[
			`The service accepted ${sum('tasks: ')} tasks. No item was bought twice, except ${number('bought again after a failure')} whose tasks had failed and that *Retry On Fail* bought again. Where the tasks are:`,
			'',
			...PLACES.filter(([place]) => figures[`tasks: ${place}`]).map(
				([place, words]) => `- ${number(`tasks: ${place}`)}: ${words}`,
			),
		].join('\n'),
		`Of what the workflows did not get, ${number('results that Wait for Task got')} tasks had finished with a result: Wait for Task got them all with their IDs.`,
		`${memory(processes, span)} ${timers(processes, span)}`,
	].join('\n\n');
	writeFileSync(page, withSection(readFileSync(page, 'utf8'), 'soak', text));
	writeFileSync(join(projectDir, 'docs', 'images', 'soak.svg'), drawSoak(processes, events, span));
}

function memory(processes: Process[], span: Measured['span']): string {
	const heaps = heapsOf(processes, span);
	const steady = heaps.find(({ name }) => name === 'Worker 2');
	const others = heaps.filter((heap) => heap !== steady).map(({ firstMb, lastMb }) => lastMb - firstMb);
	const most =
		others.length === 0
			? ''
			: ` In the other processes, between two restarts, it changes by ${Math.min(...others).toFixed(1)} to ${Math.max(...others).toFixed(1)} MB.`;
	return `Three minutes after its start, the heap of worker 2 is ${steady?.firstMb} MB after a garbage collection, and ${steady?.minutes} minutes later ${steady?.lastMb} MB (the line through all samples).${most}`;
}

function timers(processes: Process[], span: Measured['span']): string {
	const counts = idleTimersOf(processes, span).map(
		({ name, before, afterwards }) => `${name.toLowerCase()} ${before} and ${afterwards}`,
	);
	return `Active timers before the first and after the last execution: ${counts.join(', ')}.`;
}
