import { toDocs } from '../../core/model/toDocs.ts';
import { imageModels } from '../../nodes/ImageGeneration/models/index.ts';
import { videoModels } from '../../nodes/VideoGeneration/models/index.ts';
import { withSection } from './section.mts';

/** The README with its model tables made anew from the model data. */
export function withModelTables(readme: string): string {
	return withSection(readme, 'models', [...imageModels, ...videoModels].map(toDocs).join('\n\n'));
}
