import type { INodeProperties } from 'n8n-workflow';
import { namingTask } from '../../core/errors';
import { downloadResultField, simplifyField, taskIdField } from '../form/fields';
import {
	downloadLinkOption,
	fileNameOption,
	includeInputOption,
	optionsCollection,
	outputFieldOption,
	requestsPerSecondOption,
	resultPathOption,
} from '../form/options';
import type { Operation } from '../run/operation';
import { deliver, readDelivery } from './deliver';
import type { Media } from './media';

/** A check is often about the status alone. */
const getDownloadField: INodeProperties = { ...downloadResultField, default: false };

/** Get Task: one look at a task, which need not have ended. */
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
			simplifyField,
			optionsCollection([
				downloadLinkOption,
				fileNameOption,
				includeInputOption,
				outputFieldOption,
				requestsPerSecondOption,
				resultPathOption,
			]),
		],
		prepare: (item, run) => {
			const task = item.concerns(item.requiredText(taskIdField));
			// Whatever the record holds is the answer to the question how the task stands.
			const delivery = { ...readDelivery(item, kind, run, getDownloadField), resultNeeded: false };
			return async (controls) =>
				await deliver(await namingTask(task, run.client.getTask(kind, task.taskId)), task, delivery, controls);
		},
	};
}
