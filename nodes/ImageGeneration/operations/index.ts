import { createGenerateOperation, type MediaDescription } from '../../generation/generate';
import type { Operation } from '../../run/operation';
import { imageTimeoutOption } from '../../form/options';
import { createGetTaskOperation, createWaitForTaskOperation } from '../../generation/taskOperations';
import { imageModels } from '../../models';
import { uploadImage } from './uploadImage';

const image: MediaDescription = { kind: 'image', models: imageModels, timeoutOption: imageTimeoutOption };

/** The operations of the node, in the order of the dropdown. */
export const operations: Operation[] = [
	createGenerateOperation(image),
	createGetTaskOperation(image),
	uploadImage,
	createWaitForTaskOperation(image),
];
