import { namingTask } from '../../core/errors';
import { downloadResultField, simplifyField, taskIdField } from '../form/fields';
import { includeInputOption, optionsCollection, outputFieldOption, requestsPerSecondOption } from '../form/options';
import type { Operation } from '../run/operation';
import { deliver, readDelivery } from './deliver';
import type { Media } from './media';

/** Get Task: one look at a task, which need not have ended. */
export function getTask({ kind, withArticle }: Media): Operation {
	return {
		option: {
			name: 'Get Task',
			value: 'getTask',
			description: `Look once how ${withArticle} task stands`,
			action: `Get ${withArticle} task`,
		},
		properties: [
			taskIdField,
			downloadResultField,
			simplifyField,
			optionsCollection([includeInputOption, outputFieldOption, requestsPerSecondOption]),
		],
		prepare: (item, { client }) => {
			const task = item.concerns(item.requiredText(taskIdField));
			const delivery = readDelivery(item, kind);
			return async ({ signal }) => await deliver(await namingTask(task, client.getTask(kind, task.taskId)), task, delivery, { signal });
		},
	};
}
