import { generate } from '../../generation/generate';
import { getResult } from '../../generation/getResult';
import { video } from '../../generation/media';
import type { Choices, Operation } from '../../run/operation';

/** The operations of the node, in the order of the dropdown. */
export const operations: Choices<Operation> = [generate(video), getResult(video)];
