import { GatewayError, gatewayError } from '../../core/errors';

/** The error of a form that n8n could not read, for example because of an expression, in n8n's words. */
export function unreadable(thrown: unknown): GatewayError {
	if (thrown instanceof GatewayError) return thrown;
	const { message, description } = thrown as { message?: string; description?: string };
	return gatewayError('itemUnreadable', { words: message, more: description }, { cause: thrown });
}
