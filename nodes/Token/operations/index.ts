import type { Choices, Operation } from '../../run/operation';
import { create } from './create';

/** The operations of the node, in the order of the dropdown. */
export const operations: Choices<Operation> = [create];
