import { inOthers } from './equivalentOthers.mjs';
import { inPurchases } from './equivalentPurchases.mjs';

/**
 * Mutants that no test can kill, because nobody outside could see a difference: each with the reason. One that is killed
 * or no longer exists must leave the list.
 *
 * @typedef {object} Equivalent
 * @property {string} line the line in which the mutant begins, without indentation
 * @property {string} becomes what Stryker puts in the place of the part that it changes
 * @property {string} why
 */

/** @type {Record<string, Equivalent[]>} by file */
export const equivalent = { ...inPurchases, ...inOthers };
