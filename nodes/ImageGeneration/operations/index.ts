import { createGenerateOperation, type MediaDescription } from '../../shared/generateOperation';
import type { Operation } from '../../shared/operation';
import { imageTimeoutOption } from '../../shared/options';
import { createGetTaskOperation, createWaitForTaskOperation } from '../../shared/taskOperations';
import { imageModels } from '../models';
import { uploadImage } from './uploadImage';

const image: MediaDescription = { kind: 'image', models: imageModels, timeoutOption: imageTimeoutOption };

/** The operations of the node, in the order of the dropdown. */
export const operations: Operation[] = [
	createGenerateOperation(image),
	createGetTaskOperation(image),
	uploadImage,
	createWaitForTaskOperation(image),
];
