import type { IDataObject } from 'n8n-workflow';
import type { VerificationKeys } from '../../core/avatars/client';
import type { VerificationResult, VerificationSession } from '../../core/avatars/records';
import { toIsoTime, withoutEmpty } from '../run/output';

/** A verification session as an output item. The status `completed` (contract 3.3) says that it exists, not that anybody passed. */
export function toVerificationOutput(session: VerificationSession, more: IDataObject = {}): IDataObject {
	const { taskId, h5Link, vendorToken, expiresAt, status } = session;
	return withoutEmpty({
		h5_link: h5Link,
		task_id: taskId,
		vendor_token: vendorToken,
		expires_at: toIsoTime(expiresAt),
		link_expired: expiresAt === undefined ? undefined : expiresAt * 1000 <= Date.now(),
		status,
		...more,
	});
}

/** The result when no poll got an answer. */
const NOT_SEEN: VerificationResult = { verified: false, refusal: {}, raw: {} };

/** The outcome as an output item. */
export function toResultOutput(
	{ taskId, vendorToken, resultCode }: VerificationKeys,
	result: VerificationResult = NOT_SEEN,
	more: IDataObject = {},
): IDataObject {
	return withoutEmpty({
		verified: result.verified,
		group_id: result.groupId,
		verify_status: result.verifyStatus,
		task_id: taskId,
		result_code: (result.resultCode ?? resultCode) as IDataObject[string],
		vendor_token: vendorToken,
		reason: result.verified ? undefined : (result.refusal.message ?? result.refusal.code),
		...more,
	});
}
