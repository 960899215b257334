import type { ModelIssue } from './issues';
import { getPath, isUnset, type Body } from '../json';
import type { Condition, Rule } from './spec';

/** Checks one rule between fields on the body that is about to be sent. */
export function checkRule(
	rule: Rule,
	body: Body,
	labelOf: (path: string) => string,
): ModelIssue | undefined {
	switch (rule.kind) {
		case 'atMostOne':
		case 'exactlyOne': {
			const present = rule.of.filter((path) => !isUnset(getPath(body, path)));
			if (present.length > 1) {
				return { message: `${names(present, labelOf)} cannot be used together`, advice: rule.advice };
			}
			if (present.length === 0 && rule.kind === 'exactlyOne') {
				return { message: `One of ${names(rule.of, labelOf)} is needed`, advice: rule.advice };
			}
			return undefined;
		}
		case 'maxItems': {
			const count = items(body, rule.of).length;
			if (count <= rule.max || !holds(rule.when, body)) return undefined;
			return {
				message: `${labelOf(rule.of)} holds ${count} entries, at most ${rule.max} allowed`,
				advice: rule.advice,
			};
		}
		case 'uniqueRoles': {
			const roles = items(body, rule.of).map((entry) => String(getPath(entry, 'role')));
			const twice = roles.find((role, index) => roles.indexOf(role) !== index);
			return twice === undefined
				? undefined
				: { message: `${labelOf(rule.of)} uses the role ${twice} more than once`, advice: rule.advice };
		}
		case 'absent':
			return getPath(body, rule.of) === undefined
				? undefined
				: { message: `${rule.label} (${rule.of}) is not possible with ${String(body.model)}`, advice: rule.advice };
		case 'imageReferences': {
			const count = items(body, rule.images).length;
			const wrong = references(body, rule.prompt).find((number) => number < 1 || number > count);
			return wrong === undefined
				? undefined
				: {
						message: `${labelOf(rule.prompt)} refers to <<<image_${wrong}>>>, but there ${count === 1 ? 'is 1 image' : `are ${count} images`}`,
						advice: `Add the image to ${labelOf(rule.images)}, or use a number from 1 to ${Math.max(1, count)}.`,
					};
		}
		case 'imagesOnlyByReference': {
			if (!holds(rule.when, body)) return undefined;
			const named = new Set(references(body, rule.prompt));
			const unnamed = items(body, rule.images).findIndex((_, index) => !named.has(index + 1));
			return unnamed === -1
				? undefined
				: {
						message: `${labelOf(rule.images)}, image ${unnamed + 1}, would be a frame, which is not possible here`,
						advice: rule.advice,
					};
		}
	}
}

function items(body: Body, path: string): unknown[] {
	const value = getPath(body, path);
	return Array.isArray(value) ? value : [];
}

function holds(condition: Condition | undefined, body: Body): boolean {
	return condition === undefined || getPath(body, condition.path) === condition.is;
}

function references(body: Body, path: string): number[] {
	const text = getPath(body, path);
	if (typeof text !== 'string') return [];
	return [...text.matchAll(/<<<image_(-?\d+)>>>/g)].map((match) => Number(match[1]));
}

/** Labels, with the request field where two would read the same. */
function names(paths: string[], labelOf: (path: string) => string): string {
	const labels = paths.map(labelOf);
	return labels
		.map((label, index) => (labels.indexOf(label) === labels.lastIndexOf(label) ? label : `${label} (${paths[index]})`))
		.join(' and ');
}
