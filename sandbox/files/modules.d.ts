declare module 'oled-font-5x7' {
	const font: { width: number; height: number; fontData: number[]; lookup: string[] };
	export default font;
}
