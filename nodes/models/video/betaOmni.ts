import { gatewayError, invalidInput } from '../../../core/errors';
import { getPath, isUnset } from '../../../core/json';
import type { FieldSpec, ModelSpec, Rule } from '../../../core/models/model';
import { atMost, audioField, imagesField, otherField, promptField } from '../commonFields';

const referenceVideoField: FieldSpec = {
	displayName: 'Reference Video',
	name: 'referenceVideo',
	type: 'options',
	options: [
		{ name: 'None', value: 'none' },
		{
			name: 'Base',
			value: 'base',
			description:
				'A video of 3 to 10 seconds. The result has its length, and you cannot define first and last frames.',
		},
		{
			name: 'Feature',
			value: 'feature',
			description: 'The only image can be a first frame. What else the service takes from the video is not documented.',
		},
	],
	default: 'none',
	description: 'Whether to use a reference video, and how',
	bodyPath: 'video_list.0.refer_type',
	notSent: 'none',
};

/** The fields that `beta-v3-omni` and `beta-video-o1` share (contract 4.4.2). */
const fields: FieldSpec[] = [
	{
		...promptField,
		// n8n shows descriptions as HTML.
		description:
			'What the video should show. &lt;&lt;&lt;image_1&gt;&gt;&gt; means the first image, &lt;&lt;&lt;image_2&gt;&gt;&gt; the second, and so on. If you name none, the service puts &lt;&lt;&lt;image_1&gt;&gt;&gt; at the start.',
	},
	{
		displayName: 'Mode',
		name: 'mode',
		type: 'options',
		options: [
			{ name: 'Pro (1080p)', value: 'pro' },
			{ name: 'Standard (720p)', value: 'std' },
		],
		default: 'std',
		description: "Quality of the video, in the model's own words. Pro usually costs more.",
		bodyPath: 'mode',
	},
	{
		displayName: 'Duration (Seconds)',
		name: 'duration',
		type: 'options',
		displayOptions: { show: { referenceVideo: ['none', 'feature'] } },
		options: [
			{ name: '5', value: 5 },
			{ name: '10', value: 10 },
		],
		default: 5,
		description: 'Length of the video. A longer one usually costs more.',
		bodyPath: 'duration',
	},
	{
		displayName: 'Aspect Ratio',
		name: 'aspectRatio',
		type: 'options',
		options: [
			{ name: 'Landscape 16:9', value: '16:9' },
			{ name: 'Portrait 9:16', value: '9:16' },
			{ name: 'Square 1:1', value: '1:1' },
		],
		default: '16:9',
		description: "Width to height, in the model's own words. With images, the service may use their own ratio.",
		bodyPath: 'aspect_ratio',
	},
	{
		...imagesField,
		description: 'Images to work from, in order: public URLs without hotlink protection, or binary fields',
	},
	referenceVideoField,
	{
		displayName: 'Reference Video URL',
		name: 'referenceVideoUrl',
		type: 'string',
		displayOptions: { show: { referenceVideo: ['base', 'feature'] } },
		required: true,
		default: '',
		placeholder: 'e.g. https://example.com/clip.mp4',
		description: 'Public http(s) URL of the video',
		bodyPath: 'video_list.0.video_url',
		format: 'url',
		docNote: 'http(s) URL',
	},
	{
		displayName: 'Keep Original Sound',
		name: 'keepOriginalSound',
		type: 'string',
		displayOptions: { show: { referenceVideo: ['base', 'feature'] } },
		default: '',
		description:
			"Whether to keep the reference video's sound. Sent as you type it: the service does not document the accepted values.",
		bodyPath: 'video_list.0.keep_original_sound',
	},
];

/** The contract does not show its content. */
const otherFields: FieldSpec[] = [otherField('metadata', { type: 'json', shape: 'object' })];

const rules: Rule[] = [
	atMost(1, { ...referenceVideoField, bodyPath: 'video_list' }, 'The service takes one reference video.'),
	atMost(
		1,
		imagesField,
		'With a Feature reference video, the only image can be the first frame.',
		(body) => getPath(body, referenceVideoField.bodyPath) === 'feature',
	),
];

const eitherSoundOrVideo = 'Use either audio or a reference video: the service does not accept both.';

/** Contract 4.4.2. */
export const betaV3Omni: ModelSpec = {
	id: 'beta-v3-omni',
	summary: 'From text, images or a reference video; with audio',
	namesImages: true,
	fields: [...fields, { ...audioField, displayOptions: { show: { referenceVideo: ['none'] } }, sentHidden: true }],
	otherFields,
	rules: [
		...rules,
		{
			advice: eitherSoundOrVideo,
			refuse: ({ audio, video_list: videos }) =>
				isUnset(audio) || isUnset(videos)
					? undefined
					: invalidInput(
							`${audioField.displayName} and ${referenceVideoField.displayName} cannot be used together`,
							eitherSoundOrVideo,
						),
			// `audio: false` next to a reference video means nothing, and a strict service might refuse both together.
			shorten: (body, additionalFields) => {
				const { audio, ...others } = body;
				const isOurs = additionalFields.audio === undefined;
				return audio === false && isOurs && !isUnset(body.video_list) ? others : body;
			},
		},
	],
};

const noAudio = 'As far as the documentation of the service shows, this model makes no audio.';

/** Contract 4.4.2: the reasoning-enhanced variant, without audio. */
export const betaVideoO1: ModelSpec = {
	id: 'beta-video-o1',
	summary: 'From text, images or a reference video; with more reasoning',
	namesImages: true,
	fields,
	otherFields,
	rules: [
		...rules,
		{
			advice: noAudio,
			// That it is off is what the model does anyway.
			refuse: ({ audio, model }) =>
				audio === undefined || audio === false
					? undefined
					: gatewayError('fieldNotForModel', {
							...{ label: audioField.displayName, path: audioField.bodyPath, model: String(model) },
							advice: noAudio,
						}),
		},
	],
};
