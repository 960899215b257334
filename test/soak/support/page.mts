/** Writes what the soak has measured into docs/durability.md, and its picture. */
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { withSection } from '../../../tools/docs/section.mts';
import { n8nVersion } from '../../../tools/install/n8n.mjs';
import { projectDir } from '../../../tools/paths.mjs';
import type { Event } from './events.mts';
import { drawSoak } from './picture.mts';
import { BY_HAND } from './places.mts';
import { heapsOf, idleTimersOf, type Process } from './samples.mts';
import { ITEMS } from './workload.mts';

export interface Measured {
	minutes: number;
	span: { startMs: number; endMs: number };
	events: Event[];
	/** By their names in soak.test.mts. */
	figures: Record<string, number>;
	processes: Process[];
}

const PLACES: Record<(typeof BY_HAND)[number], string> = {
	retry: 'a retry of the execution gets the result.',
	item: 'the output of the execution names the task.',
	'sub-execution': 'the execution was lost, the sub-execution names the task.',
	purchaseLog: 'the execution was lost, the purchase log names the task.',
	log: 'the execution was lost, n8n’s log names the task.',
};

const page = join(projectDir, 'docs', 'durability.md');

export function writePage({ minutes, span, events, figures, processes }: Measured): void {
	const number = (name: string) => (figures[name] ?? 0).toLocaleString('en-US');
	const sum = (prefix: string) =>
		Object.entries(figures)
			.reduce((total, [name, value]) => total + (name.startsWith(prefix) ? value : 0), 0)
			.toLocaleString('en-US');
	const happened = (what: Event['what']) => events.filter((event) => event.what === what).length;
	const byHand = BY_HAND.reduce((total, place) => total + (figures[`tasks: ${place}`] ?? 0), 0);
	const answered = byHand + (figures['tasks: arrived'] ?? 0);
	const share = `${((100 * byHand) / answered).toFixed(2)} %`;
	const others =
		sum('executions ended') === number('executions ended: success')
			? ''
			: ' The others were running when a worker was restarted or killed.';
	const text = [
		`Measured on ${new Date(span.endMs).toISOString().slice(0, 10)} with n8n ${n8nVersion} on ${cpus().length} cores, in ${minutes} minutes: ${happened('restart')} restarts, ${happened('kill')} kills, ${sum('executions ended')} executions with ${ITEMS} items each, of which ${number('executions ended: success')} succeeded.${others} Of ${number('requests')} requests to the service, ${number('requests that went wrong')} were answered with an error or not at all.`,
		`The service accepted ${sum('tasks: ')} tasks. No Purchase Key was bought twice, except ${number('bought again after a failure')} whose tasks had failed before they were bought again. Of ${number('tasks: lostAnswer')} tasks the service lost the answer, so nobody knows the ID: the items say that the service may or may not have accepted the task. Answers that were on their way when a worker ended: ${number('tasks: onItsWay')}.`,
		`The acceptance of the other ${answered.toLocaleString('en-US')} was answered. For ${byHand === 0 ? 'all' : number('tasks: arrived')} of them, the workflow went on by itself: ${number('arrived: result')} with the result, the others with an item that names the task and says why there is none: ${number('arrived: failed')} had failed, ${number('arrived: late')} had not finished within their timeout, and of ${number('arrived: noFile')} the file could not be downloaded. ${byHand === 0 ? 'None needs a human; the test allows 2 %.' : `Tasks that need a human: ${byHand.toLocaleString('en-US')} (${share}; the test allows 2 %):`}`,
		...(byHand === 0 ? [] : placesOf(figures)),
		`${memory(processes, span)} ${timers(processes, span)}`,
	].join('\n\n');
	writeFileSync(page, withSection(readFileSync(page, 'utf8'), 'soak', text));
	writeFileSync(join(projectDir, 'docs', 'images', 'soak.svg'), drawSoak(processes, events, span));
}

/** The places from which a human gets them, and the number of those that are worth it. */
function placesOf(figures: Measured['figures']): string[] {
	const number = (name: string) => (figures[name] ?? 0).toLocaleString('en-US');
	const places = BY_HAND.filter((place) => figures[`tasks: ${place}`]);
	return [
		places.map((place) => `- ${number(`tasks: ${place}`)}: ${PLACES[place]}`).join('\n'),
		`Results among them, all of which Wait for Task got by their IDs: ${number('results that Wait for Task got')}.`,
	];
}

function memory(processes: Process[], span: Measured['span']): string {
	const heaps = heapsOf(processes, span);
	const steady = heaps.find(({ name }) => name === 'Worker 2');
	const others = heaps.filter((heap) => heap !== steady).map(({ firstMb, lastMb }) => lastMb - firstMb);
	const most =
		others.length === 0
			? ''
			: ` In the other processes, between two restarts, it changes by ${Math.min(...others).toFixed(1)} to ${Math.max(...others).toFixed(1)} MB.`;
	return `Three minutes after its start, the heap of worker 2 is ${steady?.firstMb} MB after a garbage collection that frees all it can, and ${steady?.minutes} minutes later ${steady?.lastMb} MB (the line through all samples).${most}`;
}

function timers(processes: Process[], span: Measured['span']): string {
	const counts = idleTimersOf(processes, span).map(
		({ name, before, afterwards }) => `${name.toLowerCase()} ${before} and ${afterwards}`,
	);
	return `Active timers before the first and after the last execution: ${counts.join(', ')}.`;
}
