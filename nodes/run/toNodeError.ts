import { NodeApiError, NodeOperationError, type INode } from 'n8n-workflow';
import type { GatewayError } from '../../core/errors';
import { isTool } from './agentTools';

/**
 * The only place where an error of the core becomes one of n8n's. Message: what happened, naming the field or
 * the task; description: how to go on. It is built from our own words and the service's parsed answer only, so
 * that no request (and with it the key) can travel along.
 */
export function toNodeError(
	node: INode,
	error: GatewayError,
	itemIndex: number,
	alsoSay?: string,
): NodeApiError | NodeOperationError {
	const description = [error.description, alsoSay].filter(Boolean).join(' ');
	// When a tool throws, an agent gets to read the message only.
	const message = isTool(node) && description !== '' ? `${error.message}. ${description}` : error.message;
	if (error.kind === 'badInput') {
		return new NodeOperationError(node, message, { description, itemIndex });
	}
	const { httpStatus } = error.details;
	return new NodeApiError(
		node,
		{ message },
		{
			message,
			description,
			itemIndex,
			httpCode: httpStatus === undefined ? undefined : String(httpStatus),
		},
	);
}
