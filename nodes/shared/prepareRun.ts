import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import type { GatewayClient } from '../../core/client';
import { GatewayError } from '../../core/errors';
import { createClient, DEFAULT_REQUESTS_PER_SECOND } from './createClient';
import { readNumber } from './readParameters';
import { DEFAULT_CONCURRENT_TASKS } from './options';
import { toNodeError } from './toNodeError';

/** What all tasks of a run share. Options of the run are read from the first item. */
export async function prepareRun(
	context: IExecuteFunctions,
	runOptions: IDataObject,
): Promise<{ client: GatewayClient; concurrency: number }> {
	const { requestsPerSecond, concurrentTasks } = runOptions;
	try {
		return {
			client: await createClient(context, readNumber(requestsPerSecond, 'Requests per Second', 1, DEFAULT_REQUESTS_PER_SECOND)),
			concurrency: Math.floor(readNumber(concurrentTasks, 'Concurrent Tasks', 1, DEFAULT_CONCURRENT_TASKS)),
		};
	} catch (thrown) {
		throw thrown instanceof GatewayError ? toNodeError(context.getNode(), thrown, 0) : thrown;
	}
}
