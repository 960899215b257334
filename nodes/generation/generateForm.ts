import type { INodeProperties } from 'n8n-workflow';
import { markRequired } from '../../core/models/markRequired';
import { CUSTOM_MODEL } from '../../core/models/spec';
import { toModelOptions, toProperties } from '../../core/models/toProperties';
import * as fields from '../form/fields';
import * as options from '../form/options';
import type { Media } from './media';

const whenCustom = { show: { model: [CUSTOM_MODEL] } };
const customModelFields = ({ otherModel }: Media): INodeProperties[] => [
	...markRequired({ ...fields.customModelIdField, required: true, placeholder: `e.g. ${otherModel}` }, whenCustom.show),
	{ ...fields.customBodyField, displayOptions: whenCustom },
];

/** The form of Generate. Most of it comes from the models. */
export function generateProperties(media: Media): INodeProperties[] {
	return [
		{ ...fields.modelField, options: toModelOptions(media.models), default: media.models[0].id },
		...toProperties(media.models),
		...customModelFields(media),
		fields.waitField,
		fields.workflowField,
		fields.workflowNotice,
		fields.passAlongField,
		{ ...fields.resultField, displayOptions: { hide: { ...fields.hiddenInTools?.hide, wait: ['dontWait'] } } },
		options.optionsCollection([
			options.additionalFieldsOption,
			options.concurrentTasksOption,
			options.fileNameByPromptOption,
			options.outputFieldOption,
			options.pollIntervalOption,
			options.purchaseKeyOption,
			options.reportCreditsOption,
			options.resultPathOption,
			options.reuseOption,
			fields.simplifyField,
			options.splitFilesOption,
			options.submitAgainOption,
			options.forNewTask(media.timeoutOption),
		]),
		fields.costNotice,
	];
}
