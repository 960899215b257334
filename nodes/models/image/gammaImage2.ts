import type { ModelSpec } from '../../../core/models/model';
import { imagesField, otherField, promptField } from '../commonFields';

/**
 * Contract 4.5. Which sizes exist depends on the resolution: one Size field for each. The one of the default resolution
 * comes last: n8n takes the default of the last while the resolution is an expression.
 */
export const gammaImage2: ModelSpec = {
	id: 'gamma-image-2',
	summary: 'From text, or from one or more reference images',
	fields: [
		{ ...promptField, maxLength: 32_000 },
		{
			displayName: 'Resolution',
			name: 'resolution',
			type: 'options',
			options: [
				{ name: '1K', value: '1K' },
				{ name: '2K', value: '2K' },
				{ name: '4K', value: '4K' },
			],
			default: '1K',
			description:
				"Resolution of the image, in the model's own words. The available sizes depend on it. A higher one usually costs more.",
			bodyPath: 'resolution',
		},
		{
			displayName: 'Size',
			name: 'size',
			type: 'options',
			displayOptions: { show: { resolution: ['4K'] } },
			options: [
				{ name: 'Landscape 16:9 (3840 × 2160)', value: '16:9' },
				{ name: 'Landscape 2:1 (3840 × 1920)', value: '2:1' },
				{ name: 'Landscape 21:9 (3840 × 1648)', value: '21:9' },
				{ name: 'Portrait 1:2 (1920 × 3840)', value: '1:2' },
				{ name: 'Portrait 9:16 (2160 × 3840)', value: '9:16' },
				{ name: 'Portrait 9:21 (1648 × 3840)', value: '9:21' },
			],
			default: '16:9',
			description: "Aspect ratio and pixel size, in the model's own words",
			bodyPath: 'size',
			alwaysSent: true,
		},
		{
			displayName: 'Size',
			name: 'size',
			type: 'options',
			displayOptions: { show: { resolution: ['2K'] } },
			options: [
				{ name: 'Landscape 16:9 (2048 × 1152)', value: '16:9' },
				{ name: 'Landscape 2:1 (2688 × 1344)', value: '2:1' },
				{ name: 'Landscape 21:9 (2688 × 1152)', value: '21:9' },
				{ name: 'Landscape 3:2 (2048 × 1360)', value: '3:2' },
				{ name: 'Landscape 4:3 (2048 × 1536)', value: '4:3' },
				{ name: 'Landscape 5:4 (2560 × 2048)', value: '5:4' },
				{ name: 'Portrait 1:2 (1344 × 2688)', value: '1:2' },
				{ name: 'Portrait 2:3 (1360 × 2048)', value: '2:3' },
				{ name: 'Portrait 3:4 (1536 × 2048)', value: '3:4' },
				{ name: 'Portrait 4:5 (2048 × 2560)', value: '4:5' },
				{ name: 'Portrait 9:16 (1152 × 2048)', value: '9:16' },
				{ name: 'Portrait 9:21 (1152 × 2688)', value: '9:21' },
				{ name: 'Square 1:1 (2048 × 2048)', value: '1:1' },
			],
			default: '1:1',
			description: "Aspect ratio and pixel size, in the model's own words",
			bodyPath: 'size',
		},
		{
			displayName: 'Size',
			name: 'size',
			type: 'options',
			displayOptions: { show: { resolution: ['1K'] } },
			options: [
				{ name: 'Landscape 3:2 (1536 × 1024)', value: '3:2' },
				{ name: 'Portrait 2:3 (1024 × 1536)', value: '2:3' },
				{ name: 'Square 1:1 (1024 × 1024)', value: '1:1' },
			],
			default: '1:1',
			description: "Aspect ratio and pixel size, in the model's own words",
			bodyPath: 'size',
		},
		{
			displayName: 'Number of Images',
			name: 'n',
			type: 'number',
			min: 1,
			integer: true,
			default: 1,
			description: 'How many images to create from this prompt. Each usually costs as much as the first.',
			bodyPath: 'n',
		},
		{
			...imagesField,
			displayName: 'Reference Images',
			description: 'Images to work from, in order. Leave empty for text to image.',
			bodyPath: 'reference_images',
		},
	],
	// Always the URL: the node downloads results from there. Another value only through Additional Fields.
	constants: { response_format: 'url' },
	otherFields: [
		otherField('response_format', { type: 'string' }),
		otherField('image_urls', { type: 'json', shape: 'images' }),
	],
	rules: [],
};
