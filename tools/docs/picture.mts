/** The frame of the pictures with lines in docs/images: title, ground, and colors for a light and a dark page. */

interface Frame {
	/** Pixels. */
	width: number;
	height: number;
	title: string;
	subtitle: string;
	/** A class for each kind of line, at most three. */
	series: string[];
}

const colors = [
	{ light: '#0969da', dark: '#4493f8' },
	{ light: '#bc4c00', dark: '#f0883e' },
	{ light: '#8250df', dark: '#ab7df8' },
];

/** The picture brings its own ground: the theme of a page may be another than that of the browser. */
function styleOf(series: string[]): string {
	const inColor = (theme: 'light' | 'dark') =>
		series.map((name, index) => `.${name} { color: ${colors[index]?.[theme]} }`).join(' ');
	return `
	text { font: 13px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #59636e }
	.title { font-size: 16px; font-weight: 600; fill: #1f2328 }
	.ground { fill: #fff } .grid { stroke: #d1d9e0 }
	.line { fill: none; stroke: currentColor; stroke-width: 2.5 }
	.dot { fill: currentColor; stroke: currentColor; stroke-width: 2 } .dot.computed { fill: #fff }
	.label { font-weight: 600; fill: currentColor }
	${inColor('light')}
	@media (prefers-color-scheme: dark) {
		text { fill: #9198a1 } .title { fill: #f0f6fc }
		.ground, .dot.computed { fill: #0d1117 } .grid { stroke: #3d444d }
		${inColor('dark')}
	}`;
}

/** @param drawn elements of SVG */
export function drawPicture({ width, height, title, subtitle, series }: Frame, drawn: string[]): string {
	return [
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
		`<title>${title}</title><style>${styleOf(series)}\n</style>`,
		`<rect class="ground" width="${width}" height="${height}" rx="8"/>`,
		text(24, 36, title, 'class="title"'),
		text(24, 56, subtitle, 'text-anchor="start"'),
		...drawn,
		'</svg>\n',
	].join('\n');
}

export function text(x: number, y: number, content: string, attributes: string): string {
	return `<text x="${x}" y="${y}" ${attributes}>${content}</text>`;
}
