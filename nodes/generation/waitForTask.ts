import { makeOrder } from '../../core/orders/states';
import { consoleNotice, downloadResultField, simplifyField, taskIdField } from '../form/fields';
import * as options from '../form/options';
import { readWaitOptions } from '../run/waitOptions';
import type { Operation } from '../run/operation';
import type { Media } from './media';
import { readResultWish, taskProduct } from './taskProduct';

/** Wait for Task: continues with a task that an earlier node, or an earlier execution, has created. */
export function waitForTask({ kind, withArticle, timeoutOption }: Media): Operation {
	return {
		option: {
			name: 'Wait for Task',
			value: 'waitForTask',
			description: `Wait until ${withArticle} task is complete`,
			action: `Wait for ${kind} task`,
			builderHint: {
				propertyHint:
					'Only for tasks that nobody waits for yet, such as those of generate with whenDone set to return. By default, generate waits itself.',
			},
		},
		properties: [
			taskIdField,
			downloadResultField,
			simplifyField,
			options.optionsCollection([
				options.concurrentTasksOption,
				options.downloadLinkOption,
				options.fileNameOption,
				options.includeInputOption,
				options.onTimeoutOption,
				options.outputFieldOption,
				options.pollIntervalOption,
				options.requestsPerSecondOption,
				options.resultPathOption,
				options.streamProgressOption,
				options.surviveRestartsOption,
				timeoutOption,
			]),
			consoleNotice,
		],
		waitsFor: 'task',
		prepare: (item, run) =>
			makeOrder({
				item: item.index,
				thing: 'task',
				kind,
				then: 'poll',
				task: { taskId: item.requiredText(taskIdField), elapsedMs: 0 },
				wait: readWaitOptions(item.options, timeoutOption, run.defers),
				result: readResultWish(item),
			}),
		product: taskProduct,
	};
}
