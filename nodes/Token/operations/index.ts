import type { Operation } from '../../shared/operation';
import { create } from './create';

/** The operations of the node, in the order of the dropdown. */
export const operations: Operation[] = [create];
