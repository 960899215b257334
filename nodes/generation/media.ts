import type { INodeProperties } from 'n8n-workflow';
import type { MediaKind } from '../../core/client';
import type { ModelSpec } from '../../core/models/spec';
import { imageTimeoutOption, videoTimeoutOption } from '../form/options';
import { imageModels, videoModels } from '../models';

/** What tells images from videos. */
export interface Media {
	kind: MediaKind;
	/** In sentences. */
	withArticle: string;
	models: readonly ModelSpec[];
	timeoutOption: INodeProperties;
}

export const image: Media = { kind: 'image', withArticle: 'an image', models: imageModels, timeoutOption: imageTimeoutOption };
export const video: Media = { kind: 'video', withArticle: 'a video', models: videoModels, timeoutOption: videoTimeoutOption };
