import type { MediaKind } from '../../core/client';
import type { NumberField } from '../form/fieldReader';
import { imageTimeoutOption, videoTimeoutOption } from '../form/options';
import { imageModels, videoModels, type Registry } from '../models';

/** The differences between images and videos. */
export interface Media {
	kind: MediaKind;
	/** With its article, for sentences. */
	withArticle: string;
	models: Registry;
	timeoutOption: NumberField;
	/** A placeholder for Model ID. */
	otherModel: string;
}

export const image: Media = {
	kind: 'image',
	withArticle: 'an image',
	models: imageModels,
	timeoutOption: imageTimeoutOption,
	otherModel: 'my-image-model',
};
export const video: Media = {
	kind: 'video',
	withArticle: 'a video',
	models: videoModels,
	timeoutOption: videoTimeoutOption,
	otherModel: 'my-video-model',
};
