import type { Choices, Operation } from '../../run/operation';
import { getTokenBalance } from './getTokenBalance';
import { getUserBalance } from './getUserBalance';

/** The operations of the node, in the order of the dropdown. */
export const operations: Choices<Operation> = [getTokenBalance, getUserBalance];
