import type { JobControls } from '../../../core/engine/jobs';
import type { INodeProperties } from 'n8n-workflow';
import { readBinaryImage } from '../../generation/binaryImage';
import type { Operation } from '../../run/operation';

const binaryField: INodeProperties = {
	displayName: 'Input Binary Field',
	name: 'binaryPropertyName',
	type: 'string',
	required: true,
	default: 'data',
	placeholder: 'e.g. data',
	hint: 'The name of the input field containing the image to upload, or an expression that returns a file from another node',
};

/** Upload Image: gives an image of the item a URL that generation requests can use (contract 4.8). */
export const uploadImage: Operation = {
	option: {
		name: 'Upload Image',
		value: 'uploadImage',
		description: 'Upload an image from a binary field and get its URL',
		action: 'Upload image',
		builderHint: { propertyHint: 'Not needed before generate, which uploads the images of binary fields itself.' },
	},
	properties: [binaryField],
	prepare: async (item, { client }) => {
		const { file: image } = readBinaryImage(item, item.value(binaryField));
		await image.check();
		const read = async ({ uploading }: JobControls) => {
			const upload = async () => {
				const file = await image.read();
				const url = await client.uploadImage(file);
				return { url, file_name: file.fileName, mime_type: file.mimeType };
			};
			return { json: await uploading(upload) };
		};
		return { run: read };
	},
};
