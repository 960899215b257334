import type { IDataObject, IExecuteFunctions, INodeProperties } from 'n8n-workflow';
import { watchVerification, type VerificationResult } from '../../../core/avatars/records';
import type { GatewayClient } from '../../../core/client';
import { asGatewayError, GatewayError, namingTask, type TaskReference } from '../../../core/errors';
import { quote } from '../../../core/http/serviceErrors';
import { waitForTask } from '../../../core/tasks/waitForTask';
import { prepareRun } from '../../run/run';
import type { Operation } from '../../run/operation';
import * as options from '../../form/options';
import { readBoolean, readRequiredText, readText } from '../../form/readParameters';
import { runItems } from '../../run/runItems';
import { realClock } from '../../connection/transport';
import { readVerificationId, timeoutOption, verificationIdField } from '../fields';
import { readWaitOptions, type WaitOptions } from '../finishAsset';
import { toResultOutput, type VerificationKeys } from '../verificationOutput';

const vendorTokenField: INodeProperties = {
	displayName: 'Vendor Token',
	name: 'vendorToken',
	type: 'string',
	required: true,
	typeOptions: { password: true },
	default: '',
	placeholder: 'e.g. {{ $json.vendor_token }}',
	description: 'The vendor_token that Verification → Create or Get returned',
};

const resultCodeField: INodeProperties = {
	displayName: 'Result Code',
	name: 'resultCode',
	type: 'string',
	default: '',
	placeholder: 'e.g. {{ $json.query.resultCode }}',
	description: 'The resultCode of the browser callback, if there is one. The service recommends to send it.',
};

const waitField: INodeProperties = {
	displayName: 'Wait Until Verified',
	name: 'waitUntilVerified',
	type: 'boolean',
	default: false,
	description: 'Whether to wait until the person has passed. If turned off, the verification is looked at once.',
};

/** The link lives for two minutes (contract 3.3). */
const DEFAULT_TIMEOUT_MINUTES = 3;
const LOOK_EVERY_MS = 3_000;
const verificationTimeoutOption: INodeProperties = { ...timeoutOption, ...{ default: DEFAULT_TIMEOUT_MINUTES } };

/** Get Result: whether the person has passed (contract 4.6, step 3), and the group that this yields. */
export const getVerificationResult: Operation = {
	option: {
		name: 'Get Result',
		value: 'getResult',
		description: 'Find out whether the person has passed, and get the group',
		action: 'Get the result of a verification',
	},
	properties: [
		verificationIdField,
		vendorTokenField,
		resultCodeField,
		waitField,
		options.optionsCollection([
			options.concurrentTasksOption,
			options.includeInputOption,
			options.onTimeoutOption,
			options.pollIntervalOption,
			options.requestsPerSecondOption,
			verificationTimeoutOption,
		]),
	],
	execute: async (context) => {
		const { client, concurrency } = await prepareRun(context);
		return await runItems(context, {
			concurrency,
			prepare: (itemIndex) => {
				const keys = readKeys(context, itemIndex);
				const waits = readBoolean(context, itemIndex, waitField);
				const wait = readWaitOptions(context, itemIndex, DEFAULT_TIMEOUT_MINUTES);
				const task = { taskId: keys.taskId, status: 'unknown', elapsedMs: 0 };
				return {
					task,
					run: async ({ signal }) => ({
						json: waits ? await waitUntilVerified(client, keys, wait, signal) : await lookOnce(client, keys, task),
					}),
				};
			},
		});
	},
};

function readKeys(context: IExecuteFunctions, itemIndex: number): VerificationKeys {
	const resultCode = readText(context, itemIndex, resultCodeField);
	return {
		taskId: readVerificationId(context, itemIndex),
		vendorToken: readRequiredText(context, itemIndex, vendorTokenField, 'Enter the vendor_token that Verification → Create or Get returned.'),
		resultCode: resultCode === '' ? undefined : resultCode,
	};
}

async function lookOnce(client: GatewayClient, keys: VerificationKeys, task: TaskReference): Promise<IDataObject> {
	return toResultOutput(keys, await namingTask(task, client.avatars.getVerificationResult(keys)));
}

async function waitUntilVerified(
	client: GatewayClient,
	keys: VerificationKeys,
	wait: WaitOptions,
	signal: AbortSignal,
): Promise<IDataObject> {
	let latest: VerificationResult | undefined;
	try {
		const result = await waitForTask({
			taskId: keys.taskId,
			// A person is at it, for two minutes at most: a look every few seconds is what they expect.
			plan: wait.plan.kind === 'automatic' ? { kind: 'fixed', intervalMs: LOOK_EVERY_MS } : wait.plan,
			timeoutMs: wait.timeoutMs,
			startedAtMs: Date.now(),
			clock: realClock,
			signal,
			words: {
				subject: 'Verification',
				continueWith: 'Nobody has passed so far. The link is valid for 120 seconds: create a new verification when the person is ready.',
			},
			read: async () => (latest = await client.avatars.readVerificationResult(keys)),
			watch: watchVerification,
			explainFailure: (ended) => notPassed(keys.taskId, ended),
		});
		return toResultOutput(keys, result);
	} catch (thrown) {
		const error = asGatewayError(thrown);
		if (error.kind !== 'taskTimedOut' || wait.onTimeout !== 'return' || !latest) throw error;
		return { ...toResultOutput(keys, latest), timed_out: true };
	}
}

function notPassed(taskId: string, { verifyStatus, refusal }: VerificationResult): GatewayError {
	return new GatewayError('taskFailed', `The person has not passed the verification ${taskId}`, {
		serviceMessage: refusal.message,
		serviceCode: refusal.code,
		description: [
			quote(refusal),
			`The verify_status is "${verifyStatus ?? ''}". Create a new verification, and send its link to the person.`,
		]
			.filter(Boolean)
			.join(' '),
	});
}
