import { gatewayError, type GatewayError } from '../errors';
import { getPath, isUnset, type JsonObject } from '../json';
import { holdsImages, imagesOf } from './imagesElsewhere';
import { ROLE_LABELS, type Condition, type BodySpec, type Rule, type ValueSource } from './spec';

/** Checks one rule between fields on the body that is about to be sent. */
export function checkRule(
	rule: Rule,
	body: JsonObject,
	sourceOf: (path: string) => ValueSource,
	labelOf: (path: string) => string,
): GatewayError | undefined {
	switch (rule.kind) {
		case 'atMostOne':
		case 'exactlyOne':
			return checkAlternatives(rule, body, labelOf);
		case 'maxItems': {
			const { of, max, when, inForm, advice } = rule;
			if (inForm && sourceOf(of) === 'json') return undefined;
			const count = items(body, of).length;
			if (count <= max || !holds(when, body)) return undefined;
			return gatewayError('tooManyEntries', { label: labelOf(of), count, max, advice });
		}
		case 'uniqueRoles':
			return checkUniqueRoles(rule, body);
		case 'rolesForAllOrNone':
			if (isUnset(getPath(body, rule.without)) || isUnset(getPath(body, rule.with))) return undefined;
			return gatewayError('rolesMixed', { advice: rule.advice });
		case 'absent': {
			const { of, label, advice } = rule;
			// That the field is off is what the model does anyway.
			if ([undefined, false].includes(getPath(body, of) as undefined | boolean)) return undefined;
			return gatewayError('fieldNotForModel', { label, path: of, model: String(body.model), advice });
		}
		case 'neededWithout': {
			const { of, other, advice } = rule;
			const text = getPath(body, of);
			const isEmpty = isUnset(text) || (typeof text === 'string' && text.trim() === '');
			// The contract does not show all fields of the model: one that the form does not have may take the place of the text.
			const isOpen =
				sourceOf(of) === 'json' || Object.keys(body).some((name) => name !== 'model' && labelOf(name) === name);
			return isEmpty && !isOpen && !isPresent(body, other)
				? gatewayError('fieldEmpty', { label: labelOf(of), enter: advice })
				: undefined;
		}
	}
	// The others refuse nothing.
	return undefined;
}

function checkAlternatives(
	{ kind, of, advice }: Extract<Rule, { kind: 'atMostOne' | 'exactlyOne' }>,
	body: JsonObject,
	labelOf: (path: string) => string,
): GatewayError | undefined {
	// Images under other names count as an input, but the contract says of none that it goes with no other.
	const present = of.filter((path) => !isUnset(getPath(body, path)));
	if (present.length > 1) return gatewayError('fieldsExcludeEachOther', { labels: names(present, labelOf), advice });
	if (kind === 'atMostOne' || of.some((path) => isPresent(body, path))) return undefined;
	return gatewayError('oneFieldRequired', { labels: names(of, labelOf), advice });
}

function checkUniqueRoles(
	{ of, advice }: Extract<Rule, { kind: 'uniqueRoles' }>,
	body: JsonObject,
): GatewayError | undefined {
	const roles = items(body, of)
		.map((entry) => getPath(entry, 'role'))
		.filter((role) => typeof role === 'string');
	const twice = roles.find((role, index) => roles.indexOf(role) !== index);
	if (twice === undefined) return undefined;
	const count = roles.filter((role) => role === twice).length;
	const role = ROLE_LABELS[twice] ?? twice;
	return gatewayError('roleTwice', { count: count === 2 ? 'Two' : String(count), role, advice });
}

/** The body without what the service would not use, and the rules that shortened it. */
export function withoutUnused(
	{ rules }: BodySpec,
	body: JsonObject,
): { body: JsonObject; shortened: Array<{ of: string; count: number }> } {
	const shortened = rules
		.filter((rule) => rule.kind === 'usesFirst')
		.filter(({ of, count }) => items(body, of).length > count);
	const used = { ...body };
	for (const { of, count } of shortened) used[of] = items(body, of).slice(0, count);
	return { body: used, shortened };
}

/**
 * True when a prompt names an image that is not there. Only for a hint: the contract does not say that it is refused,
 * and other texts can look like such a name.
 */
export function namesMissingImage({ rules }: BodySpec, body: JsonObject): boolean {
	const count = imagesOf(body).length;
	return rules.some(
		(rule) =>
			rule.kind === 'imageReferences' && references(body, rule.prompt).some((named) => named < 1 || named > count),
	);
}

const isPresent = (body: JsonObject, path: string) =>
	(holdsImages(path) && imagesOf(body).length > 0) || !isUnset(getPath(body, path));

function items(body: JsonObject, path: string): unknown[] {
	const value = getPath(body, path);
	return Array.isArray(value) ? value : [];
}

function holds(condition: Condition | undefined, body: JsonObject): boolean {
	return condition === undefined || getPath(body, condition.path) === condition.is;
}

function references(body: JsonObject, path: string): number[] {
	return [...String(getPath(body, path)).matchAll(/<<<image_(-?\d+)>>>/g)].map((match) => Number(match[1]));
}

/** The labels, with the names of the request fields where two labels are the same. */
function names(paths: string[], labelOf: (path: string) => string): string {
	const labels = paths.map(labelOf);
	return labels
		.map((label, index) => (labels.indexOf(label) === labels.lastIndexOf(label) ? label : `${label} (${paths[index]})`))
		.join(' and ');
}
