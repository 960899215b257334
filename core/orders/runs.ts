import type { NamedRun } from '../errors/catalogueEntry';
import { printable, shorten } from '../text';

/** Characters of the name of a run. */
export const MAX_RUN_LENGTH = 200;

/** The name of a run of a node, e.g. `1234.0`: n8n's ID of its execution, and the run index. All its tries have it. */
export function nameRun(executionId: string, runIndex: number): string {
	return `${executionId}.${runIndex}`;
}

/** The part of a request that says what a person wants submitted again. */
export interface SubmitAgain {
	/** The option Submit Again for Run: the run that an error has named. */
	submitAgainFor?: string;
}

/**
 * True where a person has named the run that has left something in doubt: one purchase more is allowed in its place.
 * Never for what the run itself has left: no person has seen its error yet, and n8n's Retry On Fail would buy again.
 *
 * @param left the run that has left it
 * @param own the run that is to submit, and the one that has handed it over
 */
export function isToSubmitAgain(
	{ submitAgainFor }: SubmitAgain,
	left: string | undefined,
	own: readonly string[],
): boolean {
	return submitAgainFor !== undefined && submitAgainFor === left && !own.includes(left);
}

/**
 * The facts for the advice on something in doubt.
 *
 * @param left the run that has left it
 */
export function toNamedRun({ submitAgainFor }: SubmitAgain, left: string | undefined): NamedRun {
	return {
		...(left !== undefined && { run: left }),
		...(submitAgainFor !== undefined &&
			submitAgainFor !== left && { otherRun: printable(shorten(submitAgainFor, LONGEST_SHOWN)) }),
	};
}

/** Characters of a name that is not the one: enough to recognize it. */
const LONGEST_SHOWN = 40;
