import { MOST_CONCURRENT_TASKS } from '../../core/orders/handOver';
import { makeOrder } from '../../core/orders/states';
import { resultField, simplifyField, taskIdField, waitForResultField } from '../form/fields';
import * as options from '../form/options';
import type { Operation } from '../run/operation';
import { readWait, retriedThere } from '../run/buy';
import { deliverTask, readResultOptions } from './deliverTask';
import type { Media } from './media';

/** Get Result: the result of a task that an earlier node, or an earlier execution, has created. It costs nothing. */
export function getResult(media: Media): Operation {
	const { kind, withArticle, timeoutOption } = media;
	return {
		option: {
			name: 'Get Result',
			value: 'getResult',
			description: `Get the result of ${withArticle} task by its ID, and wait for it`,
			action: `Get result of ${withArticle} task`,
			builderHint: {
				propertyHint:
					'Only for tasks that no node waits for, such as those of generate with wait set to dontWait. By default, generate waits itself. For a single check, set wait to dontWait.',
			},
		},
		properties: [
			taskIdField,
			waitForResultField,
			resultField,
			options.optionsCollection([
				options.fileNameOption,
				options.outputFieldOption,
				options.hiddenWithoutWait(options.pollIntervalOption),
				options.resultPathOption,
				simplifyField,
				options.splitFilesOption,
				options.hiddenWithoutWait(timeoutOption),
			]),
		],
		wait: waitForResultField,
		// Nothing is submitted, and the pace spreads the polls.
		concurrency: MOST_CONCURRENT_TASKS,
		waitsFor: 'task',
		describes: 'task',
		prepare: (item, run) => {
			const result = readResultOptions(item, run);
			const task = { taskId: item.id(taskIdField), elapsedMs: 0 };
			const order = { item: item.index, thing: 'task', kind, task } as const;
			// Without waiting, whatever the record holds is the answer to the question how the task stands.
			if (run.waiting === 'dontWait')
				return makeOrder({ ...order, then: 'read', result: { ...result, resultNeeded: false } });
			const wait = readWait(item, timeoutOption, run);
			return makeOrder({ ...order, ...retriedThere(run), then: 'poll', wait, result });
		},
		deliver: deliverTask,
	};
}
