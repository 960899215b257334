import { generate } from '../../generation/generate';
import { getTask } from '../../generation/getTask';
import { video } from '../../generation/media';
import { waitForTask } from '../../generation/waitForTask';
import type { Choices, Operation } from '../../run/operation';

/** The operations of the node, in the order of the dropdown. */
export const operations: Choices<Operation> = [generate(video), getTask(video), waitForTask(video)];
