/** A page with what stands between its markers `<!-- name:start -->` and `<!-- name:end -->` made anew. */
export function withSection(page: string, name: string, text: string): string {
	const [start, end] = [`<!-- ${name}:start -->`, `<!-- ${name}:end -->`];
	const [before, rest, ...moreStarts] = page.split(start);
	const [, after, ...moreEnds] = (rest ?? '').split(end);
	if (after === undefined || moreStarts.length > 0 || moreEnds.length > 0) {
		throw new Error(`The page needs the lines ${start} and ${end}, once each and in this order`);
	}
	return `${before}${start}\n\n${text}\n\n${end}${after}`;
}
