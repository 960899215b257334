import { WAIT_FOR_SUB_EXECUTION, type IExecuteFunctions } from 'n8n-workflow';

/**
 * True when n8n resumes an execution whose sub-execution has slept, with its results and errors, and also when the
 * sub-execution has died. The versions that do mark such executions by a time of their own; older ones are not enough:
 * 1.123 passes no results on, 2.0 no errors, and neither looks after dead executions.
 */
export function supportsDurableWait(context: IExecuteFunctions): boolean {
	const marksThem: Date | undefined = WAIT_FOR_SUB_EXECUTION;
	return marksThem !== undefined && Boolean(context.getWorkflow().id) && Boolean(context.getExecutionId());
}
