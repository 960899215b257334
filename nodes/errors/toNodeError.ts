import { NodeApiError, NodeOperationError, type INode } from 'n8n-workflow';
import type { GatewayError } from '../../core/errors';
import { printable } from '../../core/text';
import { describe } from './advice';

/** Where it happened: what the advice depends on. */
export interface Place {
	node: INode;
	itemIndex: number;
	/** The value of the operation; none in a trigger. */
	operation?: string;
	/** An agent gets to read the message only. */
	isTool?: boolean;
}

/**
 * The only place where an error of the core becomes one of n8n's. Message: what happened, naming the field or
 * the task; description: how to go on. It is built from our own words and the service's parsed answer only, so
 * that no request (and with it the key) can travel along.
 */
export function toNodeError(error: GatewayError, { node, itemIndex, operation, isTool }: Place, alsoSay?: string): NodeApiError | NodeOperationError {
	const description = printable([describe(error, operation), alsoSay].filter(Boolean).join(' '));
	const message = printable(isTool && description !== '' ? `${error.message}. ${description}` : error.message);
	if (error.kind === 'badInput') return new NodeOperationError(node, message, { description, itemIndex });
	const { httpStatus } = error.details;
	const httpCode = httpStatus === undefined ? undefined : String(httpStatus);
	return new NodeApiError(node, { message }, { message, description, itemIndex, httpCode });
}
