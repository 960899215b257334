import type { INodePropertyCollection } from 'n8n-workflow';
import { invalidInput } from '../../core/errors';
import { getPath, type JsonObject } from '../../core/json';
import type { FieldSpec, Rule } from '../../core/models/model';
import { IMAGE_URLS_PATH } from '../../core/labels';

/** Fields that several models share. A model that says more about one writes its own. */
export const optionalPromptField: FieldSpec = {
	displayName: 'Prompt',
	name: 'prompt',
	type: 'string',
	typeOptions: { rows: 4 },
	default: '',
	placeholder: 'e.g. A lighthouse at dusk, waves breaking on the rocks',
	description: 'What the result should show',
	bodyPath: 'prompt',
};

/** Only a choice of the user is sent: of most models, the contract shows no default. */
export const audioField: FieldSpec = {
	displayName: 'Audio',
	name: 'audio',
	type: 'options',
	options: [
		{ name: 'Service Default', value: 'default' },
		{ name: 'On', value: true },
		{ name: 'Off', value: false },
	],
	default: 'default',
	description: 'Whether the video has sound',
	bodyPath: 'audio',
	notSent: 'default',
};

/** The duration of models whose default the contract does not show: empty, it is the service's own, and is not sent. */
export const openDurationField: FieldSpec = {
	displayName: 'Duration (Seconds)',
	name: 'duration',
	type: 'string',
	default: '',
	placeholder: 'e.g. 5',
	description: 'Length of the video. A longer one usually costs more. Leave empty for the default of the service.',
	bodyPath: 'duration',
	shape: 'number',
	min: 1,
	integer: true,
};

export const promptField: FieldSpec = { ...optionalPromptField, required: true };

/** A field of the contract that the form does not show, under its name in the request. */
export function otherField(name: string, kind: Pick<FieldSpec, 'type' | 'shape'>): FieldSpec {
	return { displayName: name, name, default: '', bodyPath: name, ...kind };
}

export const roleLabel = 'Role';

const imageRow: INodePropertyCollection = {
	displayName: 'Image',
	name: 'image',
	values: [
		{
			displayName: 'Source',
			name: 'source',
			type: 'options',
			options: [
				{ name: 'URL', value: 'url', description: 'A public URL of the image' },
				{
					name: 'Binary Field',
					value: 'binary',
					description: 'A file of the input item, which the node uploads first',
				},
			],
			default: 'url',
		},
		{
			displayName: 'URL',
			name: 'url',
			type: 'string',
			required: true,
			default: '',
			placeholder: 'e.g. https://example.com/cat.png',
			description: 'Public http(s) URL of the image. An expression can also return a list of URLs.',
			displayOptions: { show: { source: ['url'] } },
		},
		{
			displayName: 'Input Binary Field',
			name: 'binaryPropertyName',
			type: 'string',
			required: true,
			default: 'data',
			placeholder: 'e.g. data',
			hint: 'The name of the input field containing the image to upload, or an expression that returns a file from another node',
			displayOptions: { show: { source: ['binary'] } },
		},
	],
};

const imageRowWithRole: INodePropertyCollection = {
	...imageRow,
	values: [
		...imageRow.values,
		{
			displayName: roleLabel,
			name: 'role',
			type: 'options',
			options: [
				{ name: 'By Position', value: '', description: 'The first image is the first frame, the second the last' },
				{ name: 'First Frame', value: 'first_frame' },
				{ name: 'Last Frame', value: 'last_frame' },
			],
			default: '',
			description: 'How the model uses the image. Give all images a role, or none.',
		},
	],
};

/** One ordered list: the order decides frames and <<<image_N>>>. */
export const imagesField: FieldSpec = {
	displayName: 'Images',
	name: 'images',
	type: 'fixedCollection',
	typeOptions: { multipleValues: true, sortable: true },
	placeholder: 'Add Image',
	default: {},
	description: 'Images to work from, in order',
	options: [imageRow],
	bodyPath: IMAGE_URLS_PATH,
	shape: 'images',
	docNote: 'http(s) URLs or binary fields',
};

export const imagesWithRolesField: FieldSpec = {
	...imagesField,
	options: [imageRowWithRole],
	shape: 'imagesWithRoles',
};

/** The rule that a list has no more entries than the model takes. */
export function atMost(
	max: number,
	{ displayName: label, bodyPath }: Pick<FieldSpec, 'displayName' | 'bodyPath'>,
	advice: string,
	counts: (body: JsonObject, additionalFields: JsonObject) => boolean = () => true,
): Rule {
	return {
		advice,
		refuse: (body, additionalFields) => {
			const entries = getPath(body, bodyPath);
			const count = Array.isArray(entries) ? entries.length : 0;
			if (count <= max || !counts(body, additionalFields)) return undefined;
			const allowed = `at most ${max} ${max === 1 ? 'is' : 'are'} allowed`;
			return invalidInput(`${label} has ${count} entries, but ${allowed}`, advice);
		},
	};
}
