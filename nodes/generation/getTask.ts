import type { INodeProperties } from 'n8n-workflow';
import { makeOrder } from '../../core/orders/states';
import { downloadResultField, simplifyField, taskIdField } from '../form/fields';
import {
	downloadLinkOption,
	fileNameOption,
	includeInputOption,
	optionsCollection,
	outputFieldOption,
	requestsPerSecondOption,
	resultPathOption,
	splitFilesOption,
} from '../form/options';
import type { Operation } from '../run/operation';
import type { Media } from './media';
import { readResultOptions, taskProduct } from './taskProduct';

/** Off by default: often only the status is wanted. */
const getDownloadField: INodeProperties = { ...downloadResultField, default: false };

/** Get Task: reads a task once, which need not have ended. */
export function getTask({ kind, withArticle }: Media): Operation {
	return {
		option: {
			name: 'Get Task',
			value: 'getTask',
			description: `Check the status of ${withArticle} task once`,
			action: `Get ${kind} task`,
			builderHint: {
				propertyHint: 'For a single check. To wait until a task has finished, use waitForTask instead of a loop.',
			},
		},
		properties: [
			taskIdField,
			getDownloadField,
			optionsCollection([
				downloadLinkOption,
				fileNameOption,
				includeInputOption,
				outputFieldOption,
				requestsPerSecondOption,
				resultPathOption,
				simplifyField,
				splitFilesOption,
			]),
		],
		describes: 'task',
		prepare: (item) =>
			makeOrder({
				item: item.index,
				thing: 'task',
				kind,
				then: 'read',
				task: { taskId: item.requiredText(taskIdField), elapsedMs: 0 },
				// Whatever the record holds is the answer to the question how the task stands.
				result: { ...readResultOptions(item, getDownloadField), resultNeeded: false },
			}),
		product: taskProduct,
	};
}
