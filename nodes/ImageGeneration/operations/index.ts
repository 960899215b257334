import { generate } from '../../generation/generate';
import { getResult } from '../../generation/getResult';
import { image } from '../../generation/media';
import type { Choices, Operation } from '../../run/operation';
import { uploadImage } from './uploadImage';

/** The operations of the node, in the order of the dropdown. */
export const operations: Choices<Operation> = [generate(image), getResult(image), uploadImage];
