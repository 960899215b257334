import type { INodeProperties } from 'n8n-workflow';
import { makeOrder } from '../../core/orders/states';
import { consoleNotice, downloadResultField, simplifyField, taskIdField } from '../form/fields';
import * as options from '../form/options';
import { durable, readWaitOptions } from '../run/waitOptions';
import type { Operation } from '../run/operation';
import type { Media } from './media';
import { readResultOptions, taskProduct } from './taskProduct';

/** Wait for Task: waits for a task that an earlier node, or an earlier execution, has created. */
export function waitForTask(media: Media): Operation {
	const { kind, withArticle } = media;
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
		properties: waitProperties(media),
		waitsFor: 'task',
		describes: 'task',
		prepare: (item, run) =>
			makeOrder({
				item: item.index,
				thing: 'task',
				kind,
				then: 'poll',
				task: { taskId: item.requiredText(taskIdField), elapsedMs: 0 },
				wait: readWaitOptions(item.options, run.batch ? durable(media.timeoutOption) : media.timeoutOption),
				result: readResultOptions(item),
			}),
		product: taskProduct,
	};
}

function waitProperties({ timeoutOption }: Media): INodeProperties[] {
	return [
		taskIdField,
		downloadResultField,
		options.optionsCollection([
			options.concurrentItemsOption,
			options.downloadLinkOption,
			options.fileNameOption,
			options.includeInputOption,
			options.onTimeoutOption,
			options.outputFieldOption,
			options.pollIntervalOption,
			options.requestsPerSecondOption,
			options.resultPathOption,
			options.splitFilesOption,
			options.streamProgressOption,
			options.surviveRestartsOption,
			timeoutOption,
			simplifyField,
		]),
		consoleNotice,
	];
}
