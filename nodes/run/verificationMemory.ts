import type { IExecuteFunctions, IWebhookFunctions } from 'n8n-workflow';
import type { VerificationMemory } from '../../core/avatars/memory';

/** What a workflow remembers of the verifications that it has created. */
export function memoryOf(context: IExecuteFunctions | IWebhookFunctions): VerificationMemory {
	return { workflowId: String(context.getWorkflow().id), store: context.getWorkflowStaticData('global') };
}
