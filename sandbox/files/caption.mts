/// <reference path="./modules.d.ts" />
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import opentype, { type Font, type Glyph } from 'opentype.js';
import type { Canvas } from './canvas.mts';
import { box } from './shapes.mts';

const FONT = '@expo-google-fonts/nunito/700Bold/Nunito_700Bold.ttf';
const LETTER_HEIGHT = 4.8;
const LINE_HEIGHT = 6;
const MOST_LINES = 3;
const MARGIN = 4;
const MOST_WIDTH = 130;

let font: Font | undefined;

/** Writes the words at the lower edge, light on a dark plate. What does not fit ends with dots. */
export function writeCaption(canvas: Canvas, words: string): void {
	font ??= opentype.parse(new Uint8Array(readFileSync(createRequire(import.meta.url).resolve(FONT))).buffer);
	const size = LETTER_HEIGHT / font.unitsPerEm;
	const glyphs = glyphsOf(font);
	const widthOf = (line: string) => glyphs(line).reduce((sum, { advanceWidth }) => sum + advanceWidth * size, 0);
	const most = Math.min(MOST_WIDTH, canvas.width - 4 * MARGIN);
	const lines = wrap(words.normalize(), (line) => widthOf(line) <= most);
	if (lines.length === 0) return;
	const plate = { width: Math.max(...lines.map(widthOf)) + 2 * MARGIN, height: lines.length * LINE_HEIGHT + 3 };
	const top = canvas.height - plate.height - MARGIN;
	const left = (canvas.width - plate.width) / 2;
	canvas.fill(box(left, top, plate.width, plate.height, 3), '#10151f', { opacity: 0.6 });
	for (const [index, line] of lines.entries()) {
		let x = (canvas.width - widthOf(line)) / 2;
		for (const glyph of glyphs(line)) {
			// In the font's own units: opentype.js rounds other numbers, and some of them to NaN.
			const path = glyph.getPath(0, 0, font.unitsPerEm).toPathData({ flipY: false });
			canvas.fill(path, '#ffffff', { x, y: top + (index + 1) * LINE_HEIGHT, size });
			x += glyph.advanceWidth * size;
		}
	}
}

/** A letter that the font lacks becomes a space. */
function glyphsOf(of: Font): (line: string) => Glyph[] {
	const space = of.charToGlyph(' ');
	return (line) => [...line].map((letter) => of.charToGlyph(letter)).map((glyph) => (glyph.index ? glyph : space));
}

function wrap(text: string, fits: (line: string) => boolean): string[] {
	const lines: string[] = [];
	for (const word of text.match(/\S{1,30}/g) ?? []) {
		const longer = `${lines.at(-1)} ${word}`;
		if (lines.length > 0 && fits(longer)) lines[lines.length - 1] = longer;
		else lines.push(word);
	}
	const shown = lines.slice(0, MOST_LINES);
	if (lines.length > MOST_LINES) shown[MOST_LINES - 1] += ' …';
	return shown;
}
