import { consoleNotice, downloadResultField, simplifyField, taskIdField } from '../form/fields';
import * as options from '../form/options';
import { assertLeavable, inputToPassOn, leaveTask } from '../run/leave';
import { readWaitOptions } from '../run/waitOptions';
import type { Operation } from '../run/operation';
import { readDelivery, waitAndDeliver } from './deliver';
import type { Media } from './media';

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
		prepare: (item, run) => {
			const task = item.concerns(item.requiredText(taskIdField));
			const delivery = readDelivery(item, kind, run);
			const wait = readWaitOptions(item.options, timeoutOption, run.tickets !== undefined);
			const input = inputToPassOn(item);
			if (run.tickets) assertLeavable(run, delivery, { ...wait, input });
			return async (controls) => {
				const startedAtMs = Date.now();
				if (run.tickets) return leaveTask(run, item, delivery, { ...wait, taskId: task.taskId, startedAtMs, input });
				return await waitAndDeliver(run.client, task, delivery, controls, { ...wait, startedAtMs });
			};
		},
	};
}
