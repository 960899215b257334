import { gatewayError, type TaskReference } from '../errors';
import type { Waitable } from '../tasks/waitForTask';
import type { AvatarClient, VerificationKeys } from './client';
import { watchVerification, type AvatarAsset, type AvatarKind, type VerificationResult } from './records';

/** An asset, as something to wait for (contract 3.2). */
export function awaitedAsset(avatars: AvatarClient, kind: AvatarKind, task: TaskReference): Waitable<AvatarAsset> {
	const { taskId: id } = task;
	return {
		thing: 'asset',
		task,
		fetch: async () => await avatars.fetchAsset(kind, id),
		watch: ({ state, status, progress }) => ({ state, status, progress }),
		toFailure: ({ status, refusal: { message, code } }) =>
			gatewayError('assetFailed', { id, status }, { serviceMessage: message, serviceCode: code }),
	};
}

/** A verification that a person has still to pass (contract 3.3). */
export function awaitedVerification(avatars: AvatarClient, keys: VerificationKeys, task: TaskReference): Waitable<VerificationResult> {
	return {
		thing: 'verification',
		task,
		fetch: async () => await avatars.fetchVerificationResult(keys),
		watch: watchVerification,
		toFailure: ({ verifyStatus = '', refusal: { message, code } }) =>
			gatewayError('notVerified', { id: keys.taskId, status: verifyStatus }, { serviceMessage: message, serviceCode: code }),
	};
}
