import { ACCOUNT } from './reasons/account';
import { AVATARS } from './reasons/avatars';
import { CONNECTION } from './reasons/connection';
import { CREATING } from './reasons/creating';
import { FORM } from './reasons/form';
import { PURCHASES } from './reasons/purchases';
import { RESULTS } from './reasons/results';
import { TASKS } from './reasons/tasks';
import type { CatalogueEntry, FormEntry } from './catalogueEntry';

/** Everything that can happen. The names are public: see `toCode`. */
const CATALOGUE = {
	...CONNECTION,
	...CREATING,
	...PURCHASES,
	...TASKS,
	...RESULTS,
	...ACCOUNT,
	...AVATARS,
	...FORM,
};

export type Reason = keyof typeof CATALOGUE;

export const REASONS: Record<Reason, FormEntry & Partial<CatalogueEntry>> = CATALOGUE;

type DataIn<Text> = Text extends (data: infer Data, ...more: never[]) => string ? Data : unknown;

/** The facts that are known when it happens: message and advice are made from them. */
export type DataOf<R extends Reason> = DataIn<(typeof CATALOGUE)[R]['message']> &
	DataIn<(typeof CATALOGUE)[R]['advice']>;

/** A reason, and the facts that were known when it happened. Plain data: orders are stored with it. */
export type ErrorReason<R extends Reason = Reason> = { [K in R]: { name: K; data: DataOf<K> } }[R];

/** The reasons that need nothing but themselves. */
export type PlainReason = { [R in Reason]: Record<string, never> extends DataOf<R> ? R : never }[Reason];

/** The entry of a reason; none for one that only another version of the package has, in a stored order. */
export function entryOf(reason: string | undefined): (typeof REASONS)[Reason] | undefined {
	return Object.hasOwn(REASONS, String(reason)) ? REASONS[reason as Reason] : undefined;
}

/** The public code of a reason, e.g. `balance_too_low`. Renaming a reason breaks workflows and stored orders. */
export function toCode(reason: string): string {
	const entry = entryOf(reason);
	// A person corrects a mistake in a form or a credential; a workflow would not act differently for each.
	if (entry !== undefined && entry.kind === undefined) return entry.code ?? 'invalid_input';
	return entry?.code ?? reason.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
