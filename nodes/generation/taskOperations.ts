import type { IExecuteFunctions } from 'n8n-workflow';
import type { MediaKind } from '../../core/client';
import { namingTask } from '../../core/errors';
import { downloadResultField, simplifyField, taskIdField } from './fields';
import { finishTask, handOut, readFinishOptions } from './finishTask';
import type { MediaDescription } from './generate';
import { prepareRun } from '../run/run';
import { addHints } from '../run/hints';
import type { Operation } from '../run/operation';
import * as options from '../form/options';
import { readRequiredText } from '../form/readParameters';
import { runItems } from '../run/runItems';

/** Get Task: looks once and says how the task stands. */
export function createGetTaskOperation({ kind }: MediaDescription): Operation {
	return {
		option: {
			name: 'Get Task',
			value: 'getTask',
			description: `Look once how ${withArticle(kind)} task stands`,
			action: `Get ${withArticle(kind)} task`,
		},
		properties: [
			taskIdField,
			downloadResultField,
			simplifyField,
			options.optionsCollection([options.includeInputOption, options.outputFieldOption, options.requestsPerSecondOption]),
		],
		execute: async (context) => {
			const { client } = await prepareRun(context);
			const output = await runItems(context, {
				prepare: (itemIndex) => {
					const taskId = readTaskId(context, itemIndex);
					const finish = readFinishOptions(context, itemIndex, 0);
					const task = { taskId, status: 'unknown', elapsedMs: 0 };
					return {
						task,
						run: async ({ signal }) =>
							await handOut(context, await namingTask(task, client.getTask(kind, taskId)), { kind, task }, finish, signal),
					};
				},
			});
			addHints(context, output);
			return output;
		},
	};
}

/** Wait for Task: continues with a task that an earlier node, or an earlier execution, has created. */
export function createWaitForTaskOperation({ kind, timeoutOption }: MediaDescription): Operation {
	return {
		option: {
			name: 'Wait for Task',
			value: 'waitForTask',
			description: `Wait until ${withArticle(kind)} task has ended`,
			action: `Wait for ${withArticle(kind)} task`,
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
				timeoutOption,
			]),
		],
		execute: async (context) => {
			const { client, concurrency } = await prepareRun(context);
			const output = await runItems(context, {
				concurrency,
				prepare: (itemIndex) => {
					const taskId = readTaskId(context, itemIndex);
					const finish = readFinishOptions(context, itemIndex, Number(timeoutOption.default));
					const task = { taskId, status: 'unknown', elapsedMs: 0 };
					return {
						task,
						run: async ({ signal }) =>
							await finishTask(context, client, { kind, task, startedAtMs: Date.now() }, finish, signal),
					};
				},
			});
			addHints(context, output, 'task');
			return output;
		},
	};
}

function withArticle(kind: MediaKind): string {
	return kind === 'image' ? 'an image' : 'a video';
}

function readTaskId(context: IExecuteFunctions, itemIndex: number): string {
	return readRequiredText(context, itemIndex, taskIdField, 'Enter the task_id that Generate returned, e.g. {{ $json.task_id }}.');
}
