import type { Choices, Operation } from '../../run/operation';
import { getAccountBalance } from './getAccountBalance';
import { getApiKeyBalance } from './getApiKeyBalance';

/** The operations of the node, in the order of the dropdown. */
export const operations: Choices<Operation> = [getAccountBalance, getApiKeyBalance];
