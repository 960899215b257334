import { createHash } from 'node:crypto';
import { Canvas, type Paint } from './canvas.mts';
import { writeCaption } from './caption.mts';
import { box, ellipse, ridge } from './shapes.mts';
import { drawSubject, subjectsIn, type Subject } from './subjects.mts';

/**
 * A simple picture of what a prompt says: a time of day, a place, and the things that have an emoji.
 * What a prompt leaves open comes from `seed`: the same seed gives the same picture.
 */

/** Of the shorter side; the unit of all lengths. */
const UNITS = 100;

interface Time {
	sky: Paint;
	/** Or the moon. */
	sun: string;
	/** What lies in this light takes so much of this colour. */
	tint: [colour: string, share: number];
	stars: number;
	/** Their opacity. */
	clouds: number;
}

const DAY: Time = { sky: ['#4fa8e8', '#d8f0fb'], sun: '#fff1a8', tint: ['#ffffff', 0], stars: 0, clouds: 0.75 };
const DUSK: Time = { sky: ['#4b4382', '#ffb27d'], sun: '#ffe0a0', tint: ['#8a3f63', 0.22], stars: 0, clouds: 0.75 };
const NIGHT: Time = { sky: ['#0a1233', '#3d5596'], sun: '#f6f1d5', tint: ['#101c4c', 0.45], stars: 40, clouds: 0.12 };
const IS_NIGHT = /\b(night|midnight|moon|moonlit|stars?|starry|dark|space|galaxy|planets?|universe)\b/;
const IS_DUSK = /\b(dusk|sunset|evening|twilight|dawn|sunrise|golden|autumn|warm)\b/;
const IS_FOREST = /\b(forest|woods?|jungle|trees)\b/;

const STUDIOS = ['#f6e3d7 #e2b9a4', '#dfe9f3 #adc4dc', '#e4efe0 #b3cfae', '#efe4f5 #c9b3da'];

interface Sketch {
	canvas: Canvas;
	/** From 0 to 1, the next of this seed. */
	random: () => number;
	horizon: number;
}

/** The first that the words name; a thing on water is at sea. */
const PLACES: [words: RegExp, draw: (sketch: Sketch) => void][] = [
	[/\b(sea|ocean|beach|waves?|lake|river|harbou?r|island|coast|lighthouses?|underwater|at-water)\b/, sea],
	[
		/\b(snow|snowy|winter|ice|arctic|christmas|skiing)\b/,
		(sketch) => {
			peaks(sketch, 18, '#9db4d3');
			hills(sketch, 0, ['#dfeaf5', '#c3d5e8']);
			hills(sketch, -9, ['#fbfdff', '#d3e1ef']);
		},
	],
	[
		/\b(mountains?|alps|peaks?|cliffs?|volcano|valley)\b/,
		(sketch) => {
			peaks(sketch, 18, '#8fa6c6');
			peaks(sketch, 4, '#6882a6');
			hills(sketch, -5, ['#78b06a', '#3f7f49']);
		},
	],
	[
		/\b(city|cities|street|town|skyline|downtown|urban|office|traffic|neon)\b/,
		(sketch) => {
			houses(sketch, 34, '#8ea3bd');
			houses(sketch, 20, '#5b6f8c');
			sketch.canvas.wash(sketch.horizon + 6, sketch.canvas.height, ['#7c838f', '#565d6a']);
		},
	],
	[
		/\b(desert|dunes?|sand|sahara|pyramids?)\b/,
		(sketch) => {
			hills(sketch, 7, ['#eec58a', '#e2b172']);
			hills(sketch, -8, ['#e5b56f', '#c48a4c']);
		},
	],
	[
		/\b(product|studio|bottle|perfume|portrait|table|kitchen|room|interior|shoes?|sneakers?|mug|cup|phone|logo)\b/,
		studio,
	],
	[/^/, meadow],
];

/** The picture of the words, and with a caption these words in it. */
export async function drawScene(
	size: { width: number; height: number },
	seed: string,
	words: string,
	caption = words,
): Promise<Canvas> {
	const canvas = new Canvas(size.width, size.height, Math.min(size.width, size.height) / UNITS);
	const names = words.toLowerCase().split(/[^\p{L}\d]+/u);
	const subjects = await subjectsIn(names);
	const text = [...names, ...subjects.map(({ at }) => `at-${at}`)].join(' ');
	const sketch = { canvas, random: randomOf(seed), horizon: canvas.height * 0.58 };
	const time = IS_NIGHT.test(text) ? NIGHT : IS_DUSK.test(text) ? DUSK : DAY;
	drawSky(sketch, time);
	canvas.light = time.tint;
	const draw = PLACES.find(([words]) => words.test(text))?.[1];
	draw?.(sketch);
	if (IS_FOREST.test(text) || (draw === meadow && subjects.length === 0)) await plantTrees(sketch);
	subjects.forEach((subject, index) => placeSubject(sketch, subject, index));
	canvas.light = undefined;
	writeCaption(canvas, caption);
	return canvas;
}

function drawSky({ canvas, random, horizon }: Sketch, { sky, sun, stars, clouds }: Time): void {
	canvas.wash(0, horizon + 12, sky);
	for (let star = 0; star < stars; star += 1) {
		canvas.fill(ellipse(random() * canvas.width, random() * horizon, 0.2 + random() * 0.4), '#ffffff');
	}
	const [x, y] = [canvas.width * (random() < 0.5 ? 0.2 : 0.8), 16 + random() * 10];
	canvas.fill(ellipse(x, y, 16), sun, { opacity: 0.15 });
	canvas.fill(ellipse(x, y, 12), sun, { opacity: 0.25 });
	canvas.fill(ellipse(x, y, 8), sun);
	const cloud = [ellipse(-8, 1, 7, 3), ellipse(0, -1.5, 8, 5), ellipse(8, 1, 7, 3)].join('');
	for (let count = 0; count < 3; count += 1) {
		const place = { x: random() * canvas.width, y: 8 + random() * horizon * 0.5, size: 0.7 + random() * 0.6 };
		canvas.fill(cloud, '#ffffff', { ...place, opacity: clouds });
	}
}

function sea(sketch: Sketch): void {
	const { canvas, random, horizon } = sketch;
	canvas.wash(horizon, canvas.height, ['#5fb0d6', '#1c5a8c']);
	for (let y = horizon + 3; y < canvas.height; y += 4 + random() * 3) {
		canvas.fill(ellipse(random() * canvas.width, y, 8 + random() * 18, 0.5), '#d5eefa', { opacity: 0.5 });
	}
	hills(sketch, -15, ['#ecd9a8', '#c9a86c']);
}

/** A wall and a table in pale colours. */
function studio({ canvas, random, horizon }: Sketch): void {
	const [light, dark] = STUDIOS[Math.floor(random() * STUDIOS.length)].split(' ');
	canvas.wash(0, horizon + 8, [dark, light]);
	canvas.fill(ellipse(canvas.width / 2, horizon - 10, 38), '#ffffff', { opacity: 0.35 });
	canvas.wash(horizon + 8, canvas.height, [light, dark]);
}

function meadow(sketch: Sketch): void {
	hills(sketch, 9, ['#a9cfae', '#8abf93']);
	hills(sketch, -1, ['#84bd72', '#5f9f58']);
	hills(sketch, -13, ['#63a852', '#3d7f3f']);
}

function hills({ canvas, random, horizon }: Sketch, above: number, paint: Paint): void {
	const middle = horizon - above * groundUnit({ canvas, horizon });
	const heights = Array.from({ length: 4 + Math.round(canvas.width / 60) }, () => middle + (random() - 0.5) * 8);
	canvas.fill(ridge(heights, canvas.width, canvas.height, 'hills'), paint);
}

/** The ground is 42 of these high, as it is in a square picture. */
function groundUnit({ canvas, horizon }: Pick<Sketch, 'canvas' | 'horizon'>): number {
	return (canvas.height - horizon) / 42;
}

/** Mountains with snow. */
function peaks({ canvas, random, horizon }: Sketch, above: number, colour: string): void {
	for (let x = -10 + random() * 20; x < canvas.width + 10; x += 22 + random() * 18) {
		const [height, half] = [above + 16 + random() * 14, 22 + random() * 8];
		const top = horizon - height;
		canvas.fill(`M${x - half} ${horizon + 14}L${x} ${top}L${x + half} ${horizon + 14}z`, colour);
		const snow = `M0 0l${half} ${height + 14}l${-0.6 * half} -10l${-0.4 * half} 16l${-0.5 * half} -16l${-0.5 * half} 10z`;
		canvas.fill(snow, '#f4f8fc', { x, y: top, size: 0.22 });
	}
}

function houses({ canvas, random, horizon }: Sketch, tall: number, colour: string): void {
	for (let x = -random() * 8; x < canvas.width; ) {
		const [width, height] = [9 + random() * 8, tall * (0.5 + random())];
		const top = horizon + 8 - height;
		canvas.fill(box(x, top, width, height), colour);
		for (let down = top + 3; down < horizon + 2; down += 5) {
			for (let right = x + 2; right < x + width - 2; right += 3.5)
				if (random() < 0.55) canvas.fill(box(right, down, 1.6, 2.4), '#ffe9a8', { opacity: 0.8 });
		}
		x += width + random() * 2;
	}
}

async function plantTrees({ canvas, random, horizon }: Sketch): Promise<void> {
	const [evergreen, deciduous] = await subjectsIn(['evergreen', 'tree', 'deciduous', 'tree']);
	const count = Math.round(canvas.width / 14);
	for (let tree = 0; tree < count; tree += 1) {
		const kind = random() < 0.7 ? evergreen : deciduous;
		const depth = tree / count;
		drawSubject(canvas, kind, { x: random() * canvas.width, y: horizon + 3 + depth * 10, size: 20 + depth * 12 });
	}
}

/** The first one is large and in the middle, the second smaller and beside it. */
function placeSubject({ canvas, horizon }: Sketch, subject: Subject, index: number): void {
	const size = (canvas.height > 1.3 * canvas.width ? 58 : 46) * (index === 0 ? 1 : 0.6);
	const x = canvas.width / 2 + (index === 0 ? 0 : 30);
	const floor = { ground: 15, water: 13, sky: -8 }[subject.at] + index * 2;
	drawSubject(canvas, subject, { x, y: horizon + floor * groundUnit({ canvas, horizon }), size });
}

/** Numbers from 0 to 1 that follow from the seed. */
function randomOf(seed: string): () => number {
	let state = createHash('sha256').update(seed).digest().readUInt32LE();
	return () => {
		state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
		return state / 2 ** 32;
	};
}
