import type { INodeProperties } from 'n8n-workflow';
import { markRequired } from '../../core/models/markRequired';
import { CUSTOM_MODEL } from '../../core/models/spec';
import { toModelOptions, toProperties } from '../../core/models/toProperties';
import { downloadResultField, hiddenInTools, modelField, simplifyField, whenDoneField } from '../form/fields';
import * as options from '../form/options';
import type { Media } from './media';
import { customBodyField, customModelIdField } from './planRequest';

const whenCustom = { show: { model: [CUSTOM_MODEL] } };
const customModelFields: INodeProperties[] = [
	...markRequired({ ...customModelIdField, displayOptions: whenCustom }),
	{ ...customBodyField, displayOptions: whenCustom },
];

/** The form of Generate. Most of it comes from the models. */
export function generateProperties(media: Media): INodeProperties[] {
	return [
		{ ...modelField, options: toModelOptions(media.models), default: media.models[0].id },
		...toProperties(media.models),
		...customModelFields,
		whenDoneField,
		{ ...downloadResultField, displayOptions: { ...hiddenInTools, show: { whenDone: ['wait'] } } },
		simplifyField,
		options.optionsCollection([
			options.additionalFieldsOption,
			options.concurrentTasksOption,
			options.downloadLinkOption,
			options.fileNameOption,
			options.includeInputOption,
			options.onTimeoutOption,
			options.outputFieldOption,
			options.pollIntervalOption,
			options.requestsPerSecondOption,
			options.resultPathOption,
			options.submitAgainOption,
			options.surviveRestartsOption,
			media.timeoutOption,
		]),
	];
}
