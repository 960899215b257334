/** Draws wall time over the number of tasks, both on logarithmic scales. */
import { drawPicture, text } from '../../tools/docs/picture.mts';
import type { Row } from './measure.mts';
import type { PeerName } from './peers.mts';

const width = 750;
const height = 420;
/** The lines are drawn between these; their names stand to the right. */
const left = 70;
const right = 470;
const top = 80;
const bottom = 350;
const gridSeconds = [30, 60, 300, 600, 1800];

const labels: Record<PeerName, string> = {
	package: 'This package',
	loop: 'HTTP Request → Wait → If',
	gemini: 'n8n’s Gemini node',
};

/** @param rows all with tasks of the same duration, few tasks first */
export function drawWallTime(rows: Row[]): string {
	const [first, last] = [rows[0], rows.at(-1)];
	if (!first || !last) throw new Error('There is nothing to draw.');
	const slowest = Math.max(
		...rows.flatMap(({ figures }) => Object.values(figures)).map(({ wallSeconds }) => wallSeconds),
	);
	const x = scale([first.tasks, last.tasks], [left, right]);
	const y = scale([first.taskSeconds, slowest], [bottom, top]);
	const title = `Wall time by number of tasks, ${first.taskSeconds} s each`;

	const grid = [first.taskSeconds, ...gridSeconds]
		.filter((seconds) => seconds <= slowest)
		.map((seconds) => [
			`<path class="grid" d="M${left} ${y(seconds)}H${right}"/>`,
			text(left - 10, y(seconds) + 4, inWords(seconds), 'text-anchor="end"'),
		]);
	const ticks = rows.map(({ tasks }) => text(x(tasks), bottom + 22, String(tasks), 'text-anchor="middle"'));
	const lines = (Object.keys(labels) as PeerName[]).map((peer) => {
		const points = rows.map(({ tasks, figures: { [peer]: figure } }) => ({
			x: x(tasks),
			y: y(figure.wallSeconds),
			figure,
		}));
		const end = last.figures[peer];
		return [
			`<g class="${peer}">`,
			`<polyline class="line" points="${points.map((point) => `${point.x},${point.y}`).join(' ')}"/>`,
			...points.map(
				(point) =>
					`<circle class="dot${point.figure.isComputed ? ' computed' : ''}" cx="${point.x}" cy="${point.y}" r="4.5"/>`,
			),
			text(
				right + 14,
				y(end.wallSeconds) + 4,
				`${labels[peer]}: ${end.isComputed ? '≈ ' : ''}${inWords(end.wallSeconds)}`,
				'class="label"',
			),
			'</g>',
		];
	});
	return drawPicture({ width, height, title, subtitle: 'Both scales are logarithmic', series: Object.keys(labels) }, [
		...grid.flat(),
		...ticks,
		text((left + right) / 2, bottom + 46, 'Number of tasks (○ computed from one task)', 'text-anchor="middle"'),
		...lines.flat(),
	]);
}

/** Logarithmic. Returns pixels. */
function scale([from, to]: [number, number], [start, end]: [number, number]) {
	return (value: number) => Math.round(start + ((end - start) * Math.log(value / from)) / Math.log(to / from));
}

function inWords(seconds: number): string {
	if (seconds >= 60) return `${Math.round(seconds / 60)} min`;
	return `${Number(seconds.toFixed(1))} s`;
}
