/// <reference path="./modules.d.ts" />
import font from 'oled-font-5x7';

/** Text as dots. */
export interface Bitmap {
	width: number;
	height: number;
	isLit: (x: number, y: number) => boolean;
}

const CELL = { width: font.width + 1, height: font.height + 2 };
const UNKNOWN = font.lookup.indexOf('?');

/** The words in lines of at most so many letters; what does not fit ends with dots. */
export function drawText(text: string, lettersPerLine: number, mostLines: number): Bitmap {
	const lines = wrap(text, lettersPerLine, mostLines).map((line) => [...line].map(columnsOf));
	return {
		width: lettersPerLine * CELL.width,
		height: lines.length * CELL.height,
		isLit: (x, y) => {
			const line = lines[Math.floor(y / CELL.height)] ?? [];
			// Centred.
			const left = Math.floor(((lettersPerLine - line.length) * CELL.width) / 2);
			const column = line[Math.floor((x - left) / CELL.width)]?.[(x - left) % CELL.width] ?? 0;
			return x >= left && ((column >> y % CELL.height) & 1) === 1;
		},
	};
}

/** A letter of the font, a column per number, its lowest bit at the top. */
function columnsOf(letter: string): number[] {
	const known = font.lookup.indexOf(letter);
	const plain = known >= 0 ? known : font.lookup.indexOf(letter.normalize('NFD').charAt(0));
	const start = (plain >= 0 ? plain : UNKNOWN) * font.width;
	return font.fontData.slice(start, start + font.width);
}

function wrap(text: string, lettersPerLine: number, mostLines: number): string[] {
	const lines: string[] = [];
	for (const word of text.split(/\s+/).filter(Boolean)) {
		const line = lines.at(-1);
		if (line !== undefined && line.length + 1 + word.length <= lettersPerLine) {
			lines[lines.length - 1] = `${line} ${word}`;
		} else {
			for (let start = 0; start < word.length; start += lettersPerLine)
				lines.push(word.slice(start, start + lettersPerLine));
		}
	}
	if (lines.length <= mostLines) return lines;
	const last = lines[mostLines - 1] ?? '';
	return [...lines.slice(0, mostLines - 1), `${last.slice(0, lettersPerLine - 3)}...`];
}
