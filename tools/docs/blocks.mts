/** The parts of the documentation that are written from the code: tables of fields and of models. */
import { toDocs } from './model.mts';
import { Avatar } from '../../nodes/Avatar/Avatar.node.ts';
import { Balance } from '../../nodes/Balance/Balance.node.ts';
import { BalanceTrigger } from '../../nodes/BalanceTrigger/BalanceTrigger.node.ts';
import { ImageGeneration } from '../../nodes/ImageGeneration/ImageGeneration.node.ts';
import { Token } from '../../nodes/Token/Token.node.ts';
import { imageModels, videoModels } from '../../nodes/models/index.ts';
import { VideoGeneration } from '../../nodes/VideoGeneration/VideoGeneration.node.ts';
import { describeFields } from './fields.mts';
import { withSection } from './section.mts';

/** By the name in their markers: `<!-- name:start -->` and `<!-- name:end -->`. */
const BLOCKS: Record<string, () => string> = {
	'image-models': () => imageModels.map(toDocs).join('\n\n'),
	'video-models': () => videoModels.map(toDocs).join('\n\n'),
	'avatar-fields': () => describeFields(new Avatar().description),
	'balance-fields': () => describeFields(new Balance().description),
	'balance-trigger-fields': () => describeFields(new BalanceTrigger().description),
	'image-fields': () => describeFields(new ImageGeneration().description),
	'token-fields': () => describeFields(new Token().description),
	'video-fields': () => describeFields(new VideoGeneration().description),
};

export const blockNames = Object.keys(BLOCKS);

/** The page with every known block written anew; everything else stays. */
export function withBlocks(page: string): string {
	const present = Object.entries(BLOCKS).filter(([name]) => page.includes(`<!-- ${name}:`));
	return present.reduce((text, [name, write]) => withSection(text, name, write()), page);
}
