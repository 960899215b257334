/** Draws heap and timers of each process over the minutes of the soak. */
import { drawPicture, text } from '../../../tools/docs/picture.mts';
import type { Event } from './events.mts';
import { livesOf, type Process, type Sample } from './samples.mts';

const width = 750;
const height = 455;
const left = 84;
const right = 590;

interface Panel {
	top: number;
	bottom: number;
	unit: string;
	valueOf: (sample: Sample) => number;
}

const panels: Panel[] = [
	{ top: 95, bottom: 250, unit: 'MB', valueOf: ({ heapMb }) => heapMb },
	{ top: 290, bottom: 385, unit: 'timers', valueOf: ({ timers }) => timers },
];

/** A class for each process. */
const classes = ['first', 'second', 'third'];

/** @param startMs of the workflows: minute 0 */
export function drawSoak(processes: Process[], events: Event[], { startMs }: { startMs: number }): string {
	const times = processes.flatMap(({ samples }) => samples.map(({ atMs }) => atMs));
	const [first, last] = [Math.min(...times), Math.max(...times)];
	const x = (atMs: number) => round(left + ((right - left) * (atMs - first)) / (last - first));
	const step = niceStep((last - startMs) / 60_000 / 8);
	const ticks = Array.from({ length: Math.floor((last - startMs) / 60_000 / step) + 1 }, (_, index) =>
		text(x(startMs + index * step * 60_000), 407, String(index * step), 'text-anchor="middle"'),
	);
	const marks = events.map(({ what, fromMs }) => [
		`<path class="grid" stroke-dasharray="3 3" d="M${x(fromMs)} 84V385"/>`,
		text(x(fromMs), 79, what === 'kill' ? '✕' : '↻', 'text-anchor="middle"'),
	]);
	return drawPicture(
		{
			width,
			height,
			title: 'n8n in queue mode: heap after garbage collection, and active timers',
			subtitle: '↻ main process and worker 1 restart, ✕ worker 1 is killed, worker 2 is left alone',
			series: classes,
		},
		[
			...marks.flat(),
			...panels.flatMap((panel) => drawPanel(panel, processes, x)),
			...ticks,
			text((left + right) / 2, 435, 'Minutes', 'text-anchor="middle"'),
		],
	);
}

function drawPanel({ top, bottom, unit, valueOf }: Panel, processes: Process[], x: (atMs: number) => number): string[] {
	const most = Math.max(...processes.flatMap(({ samples }) => samples.map(valueOf)));
	const step = niceStep(most / 3);
	const steps = Math.ceil(most / step);
	const y = (value: number) => round(bottom - ((bottom - top) * value) / (steps * step));
	const grid = Array.from({ length: steps + 1 }, (_, index) => [
		`<path class="grid" d="M${left} ${y(index * step)}H${right}"/>`,
		text(left - 10, y(index * step) + 4, `${index * step}${index === steps ? ` ${unit}` : ''}`, 'text-anchor="end"'),
	]);
	const lines = processes.map(({ name, samples }, index) => [
		`<g class="${classes[index]}">`,
		...livesOf(samples).map(
			(life) =>
				`<polyline class="line" points="${life.map((sample) => `${x(sample.atMs)},${y(valueOf(sample))}`).join(' ')}"/>`,
		),
		text(
			right + 14,
			top + 14 + 22 * index,
			`${name}: ${Math.round(valueOf(samples.at(-1) as Sample))}`,
			'class="label"',
		),
		'</g>',
	]);
	return [...grid.flat(), ...lines.flat()];
}

/** 1, 2 or 5, and zeros; at least 1. */
function niceStep(least: number): number {
	const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
	return power * ([1, 2, 5, 10].find((factor) => factor * power >= least) ?? 10);
}

const round = (value: number) => Math.round(10 * value) / 10;
