import type { IDataObject, IExecuteFunctions, IWebhookFunctions } from 'n8n-workflow';
import type { VerificationMemory } from '../../core/avatars/memory';
import type { VerificationSession } from '../../core/avatars/records';
import { MAX_ID_LENGTH } from '../../core/orders/order';
import type { TextField } from '../form/fieldReader';
import { toIsoTime, withoutEmpty } from '../run/toItem';

export const verificationIdField: TextField = {
	displayName: 'Task ID',
	name: 'verificationId',
	type: 'string',
	required: true,
	default: '',
	maxLength: MAX_ID_LENGTH,
	placeholder: 'e.g. {{ $json.task_id }}',
	description: 'The task_id that Verification → Create returned',
};

/** The verifications that a workflow has created. */
export function memoryOf(context: IExecuteFunctions | IWebhookFunctions): VerificationMemory {
	return { workflowId: String(context.getWorkflow().id), store: context.getWorkflowStaticData('global') };
}

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
