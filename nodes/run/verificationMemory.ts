import type { IExecuteFunctions, IWebhookFunctions } from 'n8n-workflow';
import type { VerificationMemory } from '../../core/avatars/memory';

/** The verifications that a workflow has created. */
export function memoryOf(context: IExecuteFunctions | IWebhookFunctions): VerificationMemory {
	return { workflowId: String(context.getWorkflow().id), store: context.getWorkflowStaticData('global') };
}
