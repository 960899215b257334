import { describeConditions, describeNumber } from '../../core/models/body.ts';
import { allowedValues, isNumeric, type FieldSpec, type ModelSpec } from '../../core/models/model.ts';
import { IMAGE_ROLES_PATH } from '../../core/labels.ts';

/** The table of one model for the documentation, in Markdown. */
export function toDocs(model: ModelSpec): string {
	const rows = model.fields.map((field) => [
		`${field.displayName}${field.required ? ' *' : ''}`,
		`\`${field.bodyPath}\`${field.shape === 'imagesWithRoles' ? ` or \`${IMAGE_ROLES_PATH}\`` : ''}`,
		[describeAllowed(model, field), ...describeDefault(field)].join('; '),
	]);
	const notes = [
		...model.rules.map(({ advice }) => advice),
		...Object.entries(model.constants ?? {}).map(([name, value]) => `\`${name}\` is sent as \`${String(value)}\`.`),
		...describeOpen(model),
	];
	return [
		`### \`${model.id}\``,
		'',
		`${model.summary}.`,
		'',
		'| Field | Request field | Allowed |',
		'|---|---|---|',
		...rows.map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`),
		...(notes.length > 0 ? ['', ...[...new Set(notes)].map((note) => `- ${note}`)] : []),
	].join('\n');
}

/** The values that the service leaves open. */
function describeOpen(model: ModelSpec): string[] {
	const open = model.fields.filter((field) => field.extraValues !== undefined);
	if (open.length === 0) return [];
	return [
		`Not all values are documented: you can enter others in Additional Fields, for ${open.map(({ bodyPath }) => `\`${bodyPath}\``).join(', ')}.`,
	];
}

function describeAllowed(model: ModelSpec, field: FieldSpec): string {
	const conditions = describeConditions(model, field);
	const when = conditions.length > 0 ? ` (when ${conditions.join(' and ')})` : '';
	const allowed = allowedValues(field)?.filter((value) => value !== field.notSent);
	const base = allowed
		? allowed.map((value) => `\`${String(value)}\``).join(', ')
		: isNumeric(field)
			? describeNumber(field)
			: (field.docNote ?? (field.maxLength ? `text, at most ${field.maxLength} characters` : 'text'));
	return `${base}${when}`;
}

/** None for a field that is not sent until something is entered. */
function describeDefault({ default: value, notSent }: FieldSpec): string[] {
	const isEmpty = value === '' || value === notSent || (typeof value === 'object' && value !== null);
	return isEmpty ? [] : [`default \`${String(value)}\``];
}
