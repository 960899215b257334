import { GatewayError, gatewayError, invalidInput } from '../../core/errors';
import { wordsOf } from '../../core/text';

/** The error of a form that n8n could not read, for example because of an expression, in n8n's words. */
export function unreadable(thrown: unknown): GatewayError {
	if (thrown instanceof GatewayError) return thrown;
	const { message, description } = thrown as { message?: string; description?: string };
	return invalidInput(message ?? 'The item could not be read', description ?? '', { cause: thrown });
}

/**
 * Reads a file of n8n's. Throws `fileUnreadable` where n8n does not have it any more.
 *
 * @param file by its name, and as the form calls it, where that is known
 */
export async function readingFile<T>(file: { label?: string; fileName: string }, read: () => Promise<T>): Promise<T> {
	return await read().catch((thrown: unknown) => Promise.reject(unreadableFile(file, thrown)));
}

function unreadableFile({ label, fileName }: { label?: string; fileName: string }, thrown: unknown): GatewayError {
	if (thrown instanceof GatewayError) return thrown;
	return gatewayError('fileUnreadable', { label, name: fileName, words: wordsOf(thrown) }, { cause: thrown });
}
