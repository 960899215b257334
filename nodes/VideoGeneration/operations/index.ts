import { createGenerateOperation, type MediaDescription } from '../../generation/generate';
import type { Operation } from '../../run/operation';
import { videoTimeoutOption } from '../../form/options';
import { createGetTaskOperation, createWaitForTaskOperation } from '../../generation/taskOperations';
import { videoModels } from '../../models';

const video: MediaDescription = { kind: 'video', models: videoModels, timeoutOption: videoTimeoutOption };

/** The operations of the node, in the order of the dropdown. */
export const operations: Operation[] = [
	createGenerateOperation(video),
	createGetTaskOperation(video),
	createWaitForTaskOperation(video),
];
