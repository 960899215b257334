import { gatewayError, type TaskReference } from '../errors';
import type { Waitable } from '../tasks/waitForTask';
import { watchVerification, type AvatarAsset, type VerificationResult } from './records';

/** An asset, as something to wait for (contract 3.2). */
export function awaitedAsset(task: TaskReference, fetch: () => Promise<AvatarAsset>): Waitable<AvatarAsset> {
	const { taskId: id } = task;
	return {
		thing: 'asset',
		task,
		fetch,
		watch: ({ state, status, progress }) => ({ state, status, progress }),
		toFailure: ({ status, refusal: { message, code } }) =>
			gatewayError('assetFailed', { id, status }, { serviceMessage: message, serviceCode: code }),
	};
}

/** A verification that a person has still to pass (contract 3.3). */
export function awaitedVerification(task: TaskReference, fetch: () => Promise<VerificationResult>): Waitable<VerificationResult> {
	return {
		thing: 'verification',
		task,
		fetch,
		watch: watchVerification,
		toFailure: ({ verifyStatus = '', refusal: { message, code } }) =>
			gatewayError('notVerified', { id: task.taskId, status: verifyStatus }, { serviceMessage: message, serviceCode: code }),
	};
}
