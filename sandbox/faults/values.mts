import { parseDurationMs } from './duration.mts';

/** The values that directives take; each throws an Error that says what is wrong. */

/** Milliseconds; `never` is Infinity. */
export function time(value: string): number {
	const ms = parseDurationMs(value);
	if (ms === undefined) throw new Error(`"${value}" is not a time such as 2s, 500ms or never`);
	return ms;
}

export function wholeNumber(value: string): number {
	if (!/^\d+$/.test(value)) throw new Error(`"${value}" is not a whole number`);
	return Number(value);
}

export function oneOf<T extends string>(allowed: readonly T[], value: string): T {
	const found = allowed.find((known) => known === value);
	if (found === undefined) throw new Error(`"${value}" is not one of ${allowed.join(', ')}`);
	return found;
}
