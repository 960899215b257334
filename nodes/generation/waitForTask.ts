import { downloadResultField, simplifyField, taskIdField } from '../form/fields';
import * as options from '../form/options';
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
			description: `Wait until ${withArticle} task has ended`,
			action: `Wait for ${withArticle} task`,
		},
		properties: [
			taskIdField,
			downloadResultField,
			simplifyField,
			options.optionsCollection([
				options.concurrentTasksOption,
				options.includeInputOption,
				options.onTimeoutOption,
				options.outputFieldOption,
				options.pollIntervalOption,
				options.requestsPerSecondOption,
				options.resultPathOption,
				timeoutOption,
			]),
		],
		waitsFor: 'task',
		prepare: (item, run) => {
			const task = item.concerns(item.requiredText(taskIdField));
			const delivery = readDelivery(item, kind, run);
			const wait = readWaitOptions(item.options, timeoutOption);
			return async (controls) => await waitAndDeliver(run.client, task, delivery, controls, { ...wait, startedAtMs: Date.now() });
		},
	};
}
