import { checkImageField, readImageField } from '../../generation/binary';
import { prepareRun } from '../../run/run';
import type { Operation } from '../../run/operation';
import { includeInputOption, optionsCollection, requestsPerSecondOption } from '../../form/options';
import { runItems } from '../../run/runItems';

const LABEL = 'Input Binary Field';

/** Upload Image: gives an image of the item a URL that generation requests can use (contract 4.8). */
export const uploadImage: Operation = {
	option: {
		name: 'Upload Image',
		value: 'uploadImage',
		description: 'Upload an image from a binary field and get its URL',
		action: 'Upload an image',
	},
	properties: [
		{
			displayName: LABEL,
			name: 'binaryPropertyName',
			type: 'string',
			required: true,
			default: 'data',
			placeholder: 'e.g. data',
			hint: 'The name of the input field containing the image to upload',
		},
		optionsCollection([includeInputOption, requestsPerSecondOption]),
	],
	execute: async (context) => {
		const { client } = await prepareRun(context);
		return await runItems(context, {
			prepare: (itemIndex) => {
				const fieldName = String(context.getNodeParameter('binaryPropertyName', itemIndex, 'data')).trim();
				const { fileName, mimeType } = checkImageField(context, itemIndex, fieldName, LABEL);
				return {
					run: async () => {
						const url = await client.uploadImage(await readImageField(context, itemIndex, fieldName));
						return { json: { url, file_name: fileName, mime_type: mimeType } };
					},
				};
			},
		});
	},
};
