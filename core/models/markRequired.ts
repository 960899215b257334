import type { INodeProperties } from 'n8n-workflow';

type Conditions = NonNullable<NonNullable<INodeProperties['displayOptions']>['hide']>;

/** Met by an expression: n8n compares with its text, which begins with `=`. */
export const isExpression = { _cnd: { startsWith: '=' } };

/**
 * A required field of some models. While the model is an expression, n8n takes the fields of all models for shown, and
 * would refuse to run because of an empty required one that the model may not even have. So the field becomes several of
 * the same name, of which the form shows one at a time: with the mark for each choice made there, without it while a
 * choice is an expression. The core refuses an empty one in any case.
 *
 * @param show the choices that it is shown for
 */
export function markRequired({ required, ...unmarked }: INodeProperties, show: Conditions): INodeProperties[] {
	const last = Object.keys(show).at(-1) as string;
	return [
		// Said as "hide otherwise": where `show` meets an expression, n8n looks no further.
		...combinations(show).map((hide) => ({ ...unmarked, required, displayOptions: { hide } })),
		{ ...unmarked, displayOptions: { show: { ...show, [last]: [isExpression] } } },
	];
}

/** The combinations of values that meet the conditions, as conditions that hide the field otherwise. */
function combinations(show: Conditions): Conditions[] {
	return Object.entries(show).reduce<Conditions[]>(
		(found, [choice, values = []]) =>
			found.flatMap((others) => values.map((value) => ({ ...others, [choice]: [{ _cnd: { not: value as string } }] }))),
		[{}],
	);
}
