/** The parts of the documentation that are written from the code. */
import { Avatar } from '../../nodes/Avatar/Avatar.node.ts';
import { Balance } from '../../nodes/Balance/Balance.node.ts';
import { BalanceTrigger } from '../../nodes/BalanceTrigger/BalanceTrigger.node.ts';
import { ImageGeneration } from '../../nodes/ImageGeneration/ImageGeneration.node.ts';
import { Token } from '../../nodes/Token/Token.node.ts';
import { imageModels, videoModels } from '../../nodes/models/index.ts';
import { VideoGeneration } from '../../nodes/VideoGeneration/VideoGeneration.node.ts';
import { describeCodes } from './codes.mts';
import { describeFields } from './fields.mts';
import { describeLimits } from './limits.mts';
import { toDocs } from './model.mts';
import { describeOptions } from './options.mts';
import { describeOutput } from './outputFields.mts';
import { describeExamples, describeVersions } from './pages.mts';
import { withSection } from './section.mts';

const [image, video, avatar, token] = [ImageGeneration, VideoGeneration, Avatar, Token].map(
	(Node) => new Node().description,
);

/** By the name in their markers: `<!-- name:start -->` and `<!-- name:end -->`. */
const BLOCKS: Record<string, () => string> = {
	'image-models': () => imageModels.map(toDocs).join('\n\n'),
	'video-models': () => videoModels.map(toDocs).join('\n\n'),
	'avatar-fields': () => describeFields(avatar),
	'balance-fields': () => describeFields(new Balance().description),
	'balance-trigger-fields': () => describeFields(new BalanceTrigger().description),
	/** Gateway Video has the same, but for Upload Image. */
	'image-fields': () => describeFields(image),
	'token-fields': () => describeFields(token),
	options: () => describeOptions([image, video, avatar, token]),
	codes: describeCodes,
	limits: describeLimits,
	'output-fields': describeOutput,
	examples: describeExamples,
	versions: describeVersions,
};

export const blockNames = Object.keys(BLOCKS);

/** The page with every known block written anew; everything else stays. */
export function withBlocks(page: string): string {
	const present = Object.entries(BLOCKS).filter(([name]) => page.includes(`<!-- ${name}:start -->`));
	return present.reduce((text, [name, write]) => withSection(text, name, write()), page);
}
