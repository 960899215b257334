import { tryToParseDateTime } from 'n8n-workflow';
import { gatewayError } from '../../core/errors';
import type { JsonObject } from '../../core/json';
import { show } from '../../core/text';
import { additionalFieldsOption } from '../form/options';
import type { Item } from '../run/item';
import * as fields from './fields';
import { LATEST_SECONDS, toTokenBody } from './tokenBody';

/** The body of the request as the form of one item describes it. Throws a `badInput` error that names the field. */
export function readTokenBody(item: Item): JsonObject {
	const { options, context } = item;
	const isLimited = item.choice(fields.quotaField) === 'limited';
	const expires = item.choice(fields.expiryField) === 'date';
	return toTokenBody(
		{
			name: item.text(fields.nameField),
			expiresAtMs: expires ? readDate(item.value(fields.expiresAtField), context.getTimezone()) : undefined,
			quota: isLimited
				? { unit: item.choice(fields.unitField), amount: item.requiredText(fields.amountField) }
				: undefined,
			modelLimits: [fields.allowedModelsField, fields.otherModelsField].flatMap((field) => item.value(field) ?? []),
			dailyCredits: options.value(fields.dailyLimitOption),
			monthlyCredits: options.value(fields.monthlyLimitOption),
			group: options.text(fields.groupOption),
		},
		options.json(additionalFieldsOption),
		Date.now(),
	);
}

/** The latest moment that a date can hold, in milliseconds. */
const END_OF_TIME_MS = 8.64e15;

/** Unix milliseconds of a date from the picker (without a zone: the workflow's), or of what an expression gives. */
function readDate(value: unknown, timeZone: string): number {
	const { displayName: label } = fields.expiresAtField;
	if (value === undefined || value === '')
		throw gatewayError('fieldEmpty', {
			label,
			enter: 'Choose a date and time, e.g. 2030-01-31T12:00:00, or Never as expiry.',
		});
	const atMs = readUnixTime(value);
	if (atMs !== undefined && Math.abs(atMs) <= END_OF_TIME_MS) return atMs;
	try {
		return tryToParseDateTime(value, timeZone).toMillis();
	} catch (cause) {
		throw gatewayError('notADate', { label, value: show(value) }, { cause });
	}
}

/** Of Unix seconds as a number or in digits. Fewer than nine digits can be a year, or a date without hyphens. */
function readUnixTime(value: unknown): number | undefined {
	const isDigits = typeof value === 'string' && /^\s*\d{9,}\s*$/.test(value);
	if (typeof value !== 'number' && !isDigits) return undefined;
	const seconds = Number(value);
	return seconds > LATEST_SECONDS ? seconds : seconds * 1000;
}
