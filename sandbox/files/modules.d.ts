declare module 'opentype.js' {
	export interface Glyph {
		index: number;
		advanceWidth: number;
		getPath(x: number, y: number, size: number): { toPathData(options: { flipY: boolean }): string };
	}
	export interface Font {
		unitsPerEm: number;
		charToGlyph(letter: string): Glyph;
	}
	const opentype: { parse(file: ArrayBuffer): Font };
	export default opentype;
}
