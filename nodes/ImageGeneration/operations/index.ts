import { generate } from '../../generation/generate';
import { getTask } from '../../generation/getTask';
import { image } from '../../generation/media';
import { waitForTask } from '../../generation/waitForTask';
import type { Choices, Operation } from '../../run/operation';
import { uploadImage } from './uploadImage';

/** The operations of the node, in the order of the dropdown. */
export const operations: Choices<Operation> = [generate(image), getTask(image), uploadImage, waitForTask(image)];
