/** SVG paths of simple shapes. */

export function ellipse(x: number, y: number, rx: number, ry = rx): string {
	return `M${x - rx} ${y}a${rx} ${ry} 0 1 1 ${2 * rx} 0a${rx} ${ry} 0 1 1 ${-2 * rx} 0z`;
}

export function box(x: number, y: number, width: number, height: number, corner = 0): string {
	const arc = (right: number, down: number) => `a${corner} ${corner} 0 0 1 ${right * corner} ${down * corner}`;
	const [across, down] = [width - 2 * corner, height - 2 * corner];
	return `M${x + corner} ${y}h${across}${arc(1, 1)}v${down}${arc(-1, 1)}h${-across}${arc(-1, -1)}v${-down}${arc(1, -1)}z`;
}

/** A skyline from the left to the right edge, and all below it: peaks, or with `isRound` hills. */
export function ridge(heights: number[], width: number, bottom: number, form: 'peaks' | 'hills'): string {
	const step = width / (heights.length - 1);
	const points = heights.map((height, index) => [index * step, height] as const);
	const line = points.slice(1).map(([x, y], index) => {
		const [fromX, fromY] = points[index];
		return form === 'peaks' ? `L${x} ${y}` : `C${fromX + step / 2} ${fromY} ${x - step / 2} ${y} ${x} ${y}`;
	});
	return `M0 ${heights[0]}${line.join('')}V${bottom}H0z`;
}
