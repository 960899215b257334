import { gatewayError, isTransientStatus } from '../errors';
import type { GatewayError, GatewayErrorKind, TaskReference } from '../errors';
import { passesByItself } from '../errors/kinds';
import { VERIFICATION_LINK_MS } from '../limits';
import type { PollTarget } from '../polling/waitForTask';
import { saidIn } from '../records/refusals';
import { verificationStatusOf, type AvatarAsset, type VerificationResult } from './records';

/** An asset as a poll target (contract 3.2). */
export function assetTarget(task: TaskReference, fetch: PollTarget<AvatarAsset>['fetch']): PollTarget<AvatarAsset> {
	const { taskId: id } = task;
	return {
		thing: 'asset',
		task,
		fetch,
		statusOf: ({ state, status, progress }) => ({ state, status, progress }),
		toFailure: ({ status, refusal }) => gatewayError('assetFailed', { id, status }, saidIn(refusal)),
	};
}

/** The service may hear of a person who has just passed so long after the link has expired. */
const GRACE_MS = 60_000;

/**
 * A verification that a person has still to pass, as a poll target (contract 3.3). The contract does not show what a
 * service answers until then: some refuse, each in its own words. So until the link has expired only a refused key or
 * balance ends the wait; afterwards any refusal does.
 *
 * @param openedAtMs the time of the link; absent: the first poll counts
 */
export function verificationTarget(
	task: TaskReference,
	fetch: PollTarget<VerificationResult>['fetch'],
	openedAtMs?: number,
): PollTarget<VerificationResult> {
	return {
		thing: 'verification',
		task,
		fetch,
		statusOf: verificationStatusOf,
		toFailure: ({ verifyStatus: status = '', refusal }) =>
			gatewayError('notVerified', { id: task.taskId, status }, saidIn(refusal)),
		classifyError: (error, { atMs, firstAtMs }) => {
			const { httpStatus, serviceMessage, serviceCode } = error.details;
			if (!mayBeUnfinished(error)) return undefined;
			if (atMs <= (openedAtMs ?? firstAtMs) + VERIFICATION_LINK_MS + GRACE_MS) return 'passing';
			return gatewayError('notVerifiedInTime', { id: task.taskId }, { httpStatus, serviceMessage, serviceCode });
		},
	};
}

/** True for a refusal that may only mean that there is no result yet: no passing trouble, refused key or balance. */
export function mayBeUnfinished(error: GatewayError): boolean {
	const { httpStatus } = error.details;
	if (httpStatus === undefined || isTransientStatus(httpStatus) || error.kind === 'unexpectedAnswer') return false;
	return !passesByItself(error) && !refusesCaller(error.kind, httpStatus);
}

/** True for a refused key or balance. Other words of a 400, 403 or 404 may only mean that the person has not passed yet. */
function refusesCaller(kind: GatewayErrorKind, httpStatus: number): boolean {
	if (httpStatus >= 400) return httpStatus === 401 || httpStatus === 402;
	return kind === 'authentication' || kind === 'balance';
}
