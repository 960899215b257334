import type { IExecuteFunctions } from 'n8n-workflow';
import type { GatewayClient } from '../../core/client';
import { GatewayError } from '../../core/errors';
import { createClient, DEFAULT_REQUESTS_PER_SECOND } from '../connection/createClient';
import { readNumber } from '../form/readParameters';
import { DEFAULT_CONCURRENT_TASKS } from '../form/options';
import { toNodeError } from './toNodeError';

/**
 * What all tasks of a run share. Options of the run are read from the first item, each by itself: what else that
 * item holds may be wrong, and is then told as its own.
 */
export async function prepareRun(context: IExecuteFunctions): Promise<{ client: GatewayClient; concurrency: number }> {
	const option = (name: string): unknown => context.getNodeParameter(`options.${name}`, 0, null);
	try {
		return {
			client: await createClient(context, readNumber(option('requestsPerSecond'), 'Requests per Second', 1, DEFAULT_REQUESTS_PER_SECOND)),
			concurrency: Math.floor(readNumber(option('concurrentTasks'), 'Concurrent Tasks', 1, DEFAULT_CONCURRENT_TASKS)),
		};
	} catch (thrown) {
		throw thrown instanceof GatewayError ? toNodeError(context.getNode(), thrown, 0) : thrown;
	}
}
