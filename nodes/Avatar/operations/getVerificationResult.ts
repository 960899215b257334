import type { INodeProperties } from 'n8n-workflow';
import { awaitedVerification } from '../../../core/avatars/awaited';
import type { VerificationKeys } from '../../../core/avatars/client';
import { recallVerification } from '../../../core/avatars/memory';
import { namingTask } from '../../../core/errors';
import { waitForTask } from '../../../core/tasks/waitForTask';
import { simplifyField } from '../../form/fields';
import * as options from '../../form/options';
import type { Item } from '../../run/item';
import type { Operation } from '../../run/operation';
import { withoutEmpty } from '../../run/output';
import { memoryOf } from '../../run/verificationMemory';
import { readWaitOptions } from '../../run/waitOptions';
import { timeoutOption, verificationIdField } from '../fields';
import { resultCodeField, vendorTokenField, waitField } from '../forms/resultForm';
import { readRecordOutput } from '../record';
import { toResultOutput } from '../verificationOutput';

/** The link lives for two minutes (contract 3.3). */
const DEFAULT_TIMEOUT_MINUTES = 3;
const verificationTimeoutOption: INodeProperties = { ...timeoutOption, ...{ default: DEFAULT_TIMEOUT_MINUTES } };

/** Get Result: whether the person has passed (contract 4.6, step 3), and the group that this yields. */
export const getVerificationResult: Operation = {
	option: {
		name: 'Get Result',
		value: 'getResult',
		description: 'Check whether the person has passed, and get the group',
		action: 'Get avatar verification result',
	},
	properties: [
		verificationIdField,
		vendorTokenField,
		resultCodeField,
		waitField,
		simplifyField,
		options.optionsCollection([
			options.concurrentTasksOption,
			options.includeInputOption,
			options.onTimeoutOption,
			options.pollIntervalOption,
			options.requestsPerSecondOption,
			verificationTimeoutOption,
		]),
	],
	prepare: (item, { client }) => {
		const { avatars } = client;
		const task = item.concerns(item.requiredText(verificationIdField));
		const keys = {
			taskId: task.taskId,
			vendorToken: item.requiredText(vendorTokenField),
			resultCode: item.text(resultCodeField) || undefined,
		};
		const waits = item.flag(waitField);
		const wait = readWaitOptions(item.options, verificationTimeoutOption);
		const toRecord = readRecordOutput(item);
		return async ({ signal }) => {
			if (!waits) {
				const result = await namingTask(task, avatars.getVerificationResult(keys));
				return { json: toResultOutput(keys, result, toRecord(result.raw)) };
			}
			const startedAtMs = Date.now();
			const openedAtMs = whenOpened(item, keys, startedAtMs);
			const awaited = awaitedVerification(task, async () => await avatars.fetchVerificationResult(keys), openedAtMs);
			const { record, timedOut, trouble } = await waitForTask(awaited, {
				...wait,
				lifeTable: () => client.lifeTable('verification'),
				backlogMs: () => client.backlogMs,
				acceptedAtMs: openedAtMs,
				startedAtMs,
				signal,
			});
			const { serviceMessage, serviceCode } = trouble?.details ?? {};
			const late = timedOut ? withoutEmpty({ timed_out: true, reason: serviceMessage ?? serviceCode }) : {};
			return { json: toResultOutput(keys, record, { ...late, ...toRecord(record?.raw ?? {}) }) };
		};
	},
};

/** When the link was made, where this workflow has made it. Otherwise only the task ID is known. */
function whenOpened({ context }: Item, { taskId, vendorToken }: VerificationKeys, nowMs: number): number | undefined {
	const known = recallVerification(memoryOf(context), vendorToken, nowMs);
	return known?.taskId === taskId ? known.atMs : undefined;
}
