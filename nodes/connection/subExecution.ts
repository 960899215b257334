import type { IExecuteFunctions, IExecuteWorkflowInfo, RelatedExecution } from 'n8n-workflow';

/** This execution as the parent of one that the node starts; `shouldResume` where it waits for that one. */
export function parentOf(context: IExecuteFunctions, waits: Pick<RelatedExecution, 'shouldResume'>): RelatedExecution {
	return { executionId: context.getExecutionId(), workflowId: String(context.getWorkflow().id), ...waits };
}

export type InlineWorkflow = NonNullable<IExecuteWorkflowInfo['code']>;

type Parts = Pick<InlineWorkflow, 'name' | 'nodes' | 'connections' | 'settings'>;

/** A workflow that exists as long as it runs. It belongs to the workflow of the node: n8n gives it that ID. */
export const inlineWorkflow = (parts: Parts): InlineWorkflow => ({
	id: '',
	active: false,
	isArchived: false,
	createdAt: new Date(0),
	updatedAt: new Date(0),
	activeVersionId: null,
	...parts,
});
