import { createGenerateOperation, type MediaDescription } from '../../shared/generateOperation';
import type { Operation } from '../../shared/operation';
import { videoTimeoutOption } from '../../shared/options';
import { createGetTaskOperation, createWaitForTaskOperation } from '../../shared/taskOperations';
import { videoModels } from '../models';

const video: MediaDescription = { kind: 'video', models: videoModels, timeoutOption: videoTimeoutOption };

/** The operations of the node, in the order of the dropdown. */
export const operations: Operation[] = [
	createGenerateOperation(video),
	createGetTaskOperation(video),
	createWaitForTaskOperation(video),
];
