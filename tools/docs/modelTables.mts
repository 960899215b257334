import { toDocs } from '../../core/model/toDocs.ts';
import { imageModels } from '../../nodes/ImageGeneration/models/index.ts';
import { videoModels } from '../../nodes/VideoGeneration/models/index.ts';

const START = '<!-- models:start -->';
const END = '<!-- models:end -->';

/** The README with its model tables made anew from the model data. */
export function withModelTables(readme: string): string {
	const [before, rest, ...moreStarts] = readme.split(START);
	const [, after, ...moreEnds] = (rest ?? '').split(END);
	if (after === undefined || moreStarts.length > 0 || moreEnds.length > 0) {
		throw new Error(`README.md needs the lines ${START} and ${END}, once each and in this order`);
	}
	const tables = [...imageModels, ...videoModels].map(toDocs).join('\n\n');
	return `${before}${START}\n\n${tables}\n\n${END}${after}`;
}
