import type { IExecuteFunctions } from 'n8n-workflow';

/** As n8n's engine 2.0 names its executions. */
const ENGINE_2_ID = /^[\da-f]{8}-/;

/**
 * True in n8n's engine 2.0. Its executions cannot sleep: after their sub-execution has begun, they go on without it. And
 * n8n's nodes do not write into data tables there.
 */
export const isInEngine2 = (context: IExecuteFunctions) => ENGINE_2_ID.test(context.getExecutionId());
