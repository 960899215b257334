import svgpath from 'svgpath';

/** A colour such as `#ff7a59`, or two: of the shape's upper end and of its lower end. */
export type Paint = string | readonly [string, string];
type Colour = [number, number, number];
type Point = [number, number];
/** Sample lines per row of pixels. */
const LINES = 4;
const PIXELS_PER_STEP = 6;

/**
 * A picture in which SVG paths are filled, with smooth edges. A scene of 1024x1024 takes some 40 ms
 * of the processor; with libraries that draw in JavaScript or WebAssembly it took 100 and more.
 */
export class Canvas {
	/** Row by row: red, green, blue and a fourth byte of 255. */
	readonly pixels: Uint8Array<ArrayBuffer>;
	/** The same bytes, a number per pixel. */
	private readonly packed: Uint32Array;
	/** By how much the covered share of a pixel differs from that of the pixel to its left; 0 between two shapes. */
	private readonly changes: Float32Array;
	/** The size in units of the paths. */
	readonly width: number;
	readonly height: number;
	/** What is filled takes so much of this colour. */
	light?: [colour: string, share: number];

	/** @param scale pixels per unit of the paths */
	constructor(
		private readonly columns: number,
		private readonly rows: number,
		private readonly scale: number,
	) {
		this.pixels = new Uint8Array(columns * rows * 4).fill(255);
		this.packed = new Uint32Array(this.pixels.buffer);
		this.changes = new Float32Array((columns + 1) * rows + 1);
		this.width = columns / scale;
		this.height = rows / scale;
	}

	/** @param place where the path's zero is, and how much larger its units are */
	fill(path: string, paint: Paint, { x = 0, y = 0, size = 1, opacity = 1 } = {}): void {
		const outlines = outlinesOf(path, x * this.scale, y * this.scale, size * this.scale);
		for (const outline of outlines) outline.forEach((to, index) => this.addEdge(outline.at(index - 1) ?? to, to));
		const [xs, ys] = [0, 1].map((axis) => outlines.flatMap((outline) => outline.map((point) => point[axis])));
		const [left, right] = extent(xs, this.columns);
		const [top, bottom] = extent(ys, this.rows);
		const colourAt = this.coloursOf(paint);
		for (let row = top; row < bottom; row += 1) {
			this.fillRow(row, [left, right], colourAt((row - top) / (bottom - top)), opacity);
		}
	}

	/** Fills all between two heights: what `fill` can do, too, but quickly. */
	wash(upper: number, lower: number, paint: Paint): void {
		const [top, bottom] = [Math.round(upper * this.scale), Math.min(this.rows, Math.round(lower * this.scale))];
		const colourAt = this.coloursOf(paint);
		for (let row = top; row < bottom; row += 1) {
			this.packed.fill(pack(colourAt((row - top) / (bottom - top))), row * this.columns, (row + 1) * this.columns);
		}
	}

	/** In the light, from 0 at the upper end to 1 at the lower one. */
	private coloursOf(paint: Paint): (share: number) => Colour {
		const [upper, lower] = (typeof paint === 'string' ? [paint, paint] : paint).map((colour) =>
			this.light ? mixed(rgb(colour), rgb(this.light[0]), this.light[1]) : rgb(colour),
		);
		return typeof paint === 'string' ? () => upper : (share) => mixed(upper, lower, share);
	}

	private addEdge(from: Point, to: Point): void {
		const step = (from[1] < to[1] ? 1 : -1) / LINES;
		const [upper, lower] = step > 0 ? [from, to] : [to, from];
		const slope = (lower[0] - upper[0]) / (lower[1] - upper[1]);
		const last = Math.min(this.rows * LINES, Math.ceil(lower[1] * LINES - 0.5));
		for (let line = Math.max(0, Math.ceil(upper[1] * LINES - 0.5)); line < last; line += 1) {
			const x = upper[0] + ((line + 0.5) / LINES - upper[1]) * slope;
			const within = Math.min(this.columns, Math.max(0, x));
			const column = Math.floor(within);
			const at = Math.floor(line / LINES) * (this.columns + 1) + column;
			this.changes[at] += step * (1 - (within - column));
			this.changes[at + 1] += step * (within - column);
		}
	}

	/** In runs of pixels that are covered alike: most of them wholly, which is a copy, or not at all. */
	private fillRow(row: number, [left, right]: [number, number], colour: Colour, opacity: number): void {
		const { changes, columns } = this;
		const shift = row * (columns + 1);
		let covered = 0;
		for (let column = left, end = left + 1; column < right; column = end, end += 1) {
			covered += changes[shift + column];
			changes[shift + column] = 0;
			while (end < right && changes[shift + end] === 0) end += 1;
			const share = Math.min(1, Math.abs(covered)) * opacity;
			const [from, to] = [row * columns + column, row * columns + end];
			if (share > 0.996) this.packed.fill(pack(colour), from, to);
			else if (share > 0.004) this.blend(from, to, colour, share);
		}
	}

	private blend(start: number, end: number, [red, green, blue]: Colour, share: number): void {
		const { pixels } = this;
		for (let at = start * 4; at < end * 4; at += 4) {
			pixels[at] += (red - pixels[at]) * share;
			pixels[at + 1] += (green - pixels[at + 1]) * share;
			pixels[at + 2] += (blue - pixels[at + 2]) * share;
		}
	}
}

/** The whole numbers around all values, from 0 to `most`. */
function extent(values: number[], most: number): [number, number] {
	return [Math.max(0, Math.floor(Math.min(...values))), Math.min(most, Math.ceil(Math.max(...values)) + 1)];
}

/** The path as polygons, in pixels. */
function outlinesOf(path: string, x: number, y: number, size: number): Point[][] {
	const outlines: Point[][] = [];
	const add = (point: Point) => outlines.at(-1)?.push(point);
	svgpath(path)
		.scale(size)
		.translate(x, y)
		.abs()
		.unshort()
		.unarc()
		.iterate(([command, ...numbers], _index, startX, startY) => {
			const points = pairs(command === 'H' ? [...numbers, startY] : command === 'V' ? [startX, ...numbers] : numbers);
			if (command === 'M') outlines.push([]);
			if (command !== 'C' && command !== 'Q') return points.forEach(add);
			const curve = [[startX, startY] satisfies Point, ...points];
			const steps = Math.ceil(lengthOf(curve) / PIXELS_PER_STEP);
			for (let step = 1; step <= steps; step += 1) add(onCurve(curve, step / steps));
		});
	return outlines;
}

function pairs(numbers: number[]): Point[] {
	return numbers.flatMap((number, index) => (index % 2 ? [[numbers[index - 1] ?? 0, number] satisfies Point] : []));
}

function lengthOf(points: Point[]): number {
	return points
		.slice(1)
		.reduce((sum, [x, y], index) => sum + Math.hypot(x - points[index][0], y - points[index][1]), 0);
}

/** A point of a Bézier curve of any degree: the middle ways between its points, again and again. */
function onCurve(points: Point[], share: number): Point {
	if (points.length === 1) return points[0];
	const next = points.slice(1).map(([x, y], index): Point => {
		const [fromX, fromY] = points[index];
		return [fromX + (x - fromX) * share, fromY + (y - fromY) * share];
	});
	return onCurve(next, share);
}

function rgb(colour: string): Colour {
	const digits = colour.length === 4 ? colour.replace(/\w/g, '$&$&') : colour;
	return [1, 3, 5].map((at) => Number.parseInt(digits.slice(at, at + 2), 16)) as Colour;
}

function mixed(from: Colour, to: Colour, share: number): Colour {
	return from.map((value, channel) => value + (to[channel] - value) * share) as Colour;
}

/** The bytes of a pixel as the number that little-endian processors read from them. */
function pack([red, green, blue]: Colour): number {
	return ((255 << 24) | (Math.round(blue) << 16) | (Math.round(green) << 8) | Math.round(red)) >>> 0;
}
