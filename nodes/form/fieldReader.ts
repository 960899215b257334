import { DateTime } from 'luxon';
import type { INodeProperties, INodePropertyOptions } from 'n8n-workflow';
import { gatewayError, invalidInput, type GatewayError } from '../../core/errors';
import { asArray, isPlainObject, type JsonObject } from '../../core/json';
import type { FieldSpec } from '../../core/models/model';
import { firstChangedNumber, isInexact } from '../../core/longIntegers';
import { asText, either, shorten, show } from '../../core/text';
import { isPathPart } from '../../core/urls';

/** A dropdown whose values are known to the code, too. */
export interface ChoiceField<Value extends string> extends INodeProperties {
	options: Array<INodePropertyOptions & { value: Value }>;
	default: Value;
}

/** `min` is 0 if nothing is said, and `max` the largest number that is surely exact. */
export type NumberField = INodeProperties & Pick<FieldSpec, 'min' | 'max' | 'integer'>;

/** A text of bounded length. */
export type TextField = INodeProperties & { maxLength: number };

type Labelled = Pick<FieldSpec, 'name' | 'displayName' | 'maxLength'> & Partial<Pick<FieldSpec, 'type'>>;

/** A field whose value is read. */
type Read = Pick<INodeProperties, 'name' | 'displayName'> & Partial<Pick<INodeProperties, 'type'>>;

/**
 * Reads fields of a form as their declarations say: type, choices, bounds and default are theirs. Expressions can give
 * anything, so what cannot be meant is refused, by a `badInput` error that names the field by its label.
 */
export class FieldReader {
	/**
	 * @param read the value of a parameter by its name; null or undefined when there is none
	 * @param stored the parameters as they are stored in the node, with their expressions
	 */
	constructor(
		private readonly read: (name: string) => unknown,
		private readonly stored: Readonly<Record<string, unknown>> = {},
	) {}

	/** True when a part of the parameter is an expression. */
	isExpression(name: string): boolean {
		return holdsExpression(this.stored[name]);
	}

	/** As it is; undefined when there is none. Throws where a field has `{{ … }}` as text; a dropdown tells what it allows. */
	value(field: Read): unknown {
		const { name, displayName: label, type } = field;
		if (type !== 'options') assertNoTemplate(this.stored[name], label, type);
		return dateAsText(this.resolve(field)) ?? undefined;
	}

	/** Throws where n8n cannot resolve an expression: its words name a node or an item, and never the field. */
	private resolve({ name, displayName: label }: Read): unknown {
		try {
			return this.read(name);
		} catch (thrown) {
			const { message = 'n8n cannot read it', description } = thrown as { message?: string; description?: string };
			throw invalidInput(`${label}: ${message}`, description ?? `Check the expression in ${label}.`, { cause: thrown });
		}
	}

	/** Throws where an expression has no value at all. Null is a value: the item says that it has none. */
	assertNotLost(field: Read): void {
		if (this.isExpression(field.name) && this.resolve(field) === undefined)
			throw gatewayError('expressionGaveNothing', { label: field.displayName });
	}

	/**
	 * As it is; undefined where the form leaves it empty. Throws where an expression gave nothing: no value may mean "no limit",
	 * and the default may be another amount; the person would notice neither.
	 */
	given(field: Read): unknown {
		const value = this.value(field);
		if (value !== undefined && value !== '') return value;
		if (this.isExpression(field.name)) throw gatewayError('expressionGaveNothing', { label: field.displayName });
		return undefined;
	}

	/** Empty when there is none. */
	text(field: Labelled): string {
		const { displayName: label, maxLength: max = Infinity } = field;
		const text = toText(this.value(field), label);
		if (text.length > max) throw gatewayError('textTooLong', { label, length: text.length, max });
		return text;
	}

	requiredText(field: INodeProperties): string {
		const text = this.text(field);
		if (text !== '') return text;
		const { description = '', placeholder } = field;
		const [first = ''] = description.split(/\.(?: (?=[A-Z])|$)/);
		const what = `${first.charAt(0).toLowerCase()}${first.slice(1)}`;
		throw this.nothingIn(field, `Enter ${what}${placeholder ? `, ${placeholder}` : ''}.`);
	}

	/** An ID of the service, which becomes a part of an address. */
	id(field: INodeProperties): string {
		const id = this.requiredText(field);
		if (!isPathPart(id))
			throw invalidInput(
				`${field.displayName} is ${show(id)}, which cannot be an ID`,
				'Enter the ID exactly as the service returned it.',
			);
		return id;
	}

	/** Nothing at all means the default. */
	number(field: NumberField): number {
		const value = this.value(field);
		return value === undefined || value === '' ? Number(field.default) : this.requiredNumber(field);
	}

	/** The same where an empty field is a mistake: the person would not notice that a limit is missing. */
	requiredNumber(field: NumberField): number {
		const { displayName: label, min = 0, max = Number.MAX_SAFE_INTEGER, integer } = field;
		const value = this.value(field);
		if (value === undefined || value === '')
			throw this.nothingIn(field, `Change ${label} to a number, ${min} or more.`);
		const isNumeric = typeof value === 'number' || (typeof value === 'string' && value.trim() !== '');
		const number = isNumeric ? Number(value) : NaN;
		if (!Number.isFinite(number) || number < min) throw gatewayError('notANumber', { label, value: show(value), min });
		if (number > max) throw gatewayError('numberTooLarge', { label, value: show(value), max });
		return integer ? Math.floor(number) : number;
	}

	/** The error of a field that must not be empty. One that holds an expression does not look empty. */
	nothingIn({ name, displayName: label }: INodeProperties, enter: string): GatewayError {
		return this.isExpression(name)
			? gatewayError('expressionGaveNothing', { label })
			: gatewayError('fieldEmpty', { label, enter });
	}

	/** A switch. Nothing at all means the default. */
	flag(field: INodeProperties): boolean {
		const value = this.value(field);
		if (value === undefined || value === '') return field.default === true;
		if (value === true || value === 'true') return true;
		if (value === false || value === 'false') return false;
		throw gatewayError('notAChoice', { label: field.displayName, value: show(value), allowed: 'true or false' });
	}

	/** The value of a dropdown. None at all is its default. */
	givenChoice<Value extends string>(field: ChoiceField<Value>): Value {
		this.given(field);
		const { displayName: label, options } = field;
		const value = this.value(field) ?? field.default;
		const chosen = options.find((option) => option.value === value);
		if (chosen !== undefined) return chosen.value;
		const allowed = either(options.map((option) => option.value));
		throw gatewayError('notAChoice', { label, value: show(value), allowed });
	}

	/** The JSON object that was typed in, or that an expression gave. */
	json(field: Labelled): JsonObject {
		return toJsonObject(field.displayName, this.value(field));
	}
}

/** A date as ISO 8601. n8n itself makes text of those in collections and lists, and leaves one that is a whole value. */
function dateAsText(value: unknown): unknown {
	if (!(value instanceof Date || DateTime.isDateTime(value))) return value;
	// One that is no moment has no text, and is refused as it is.
	return value.toJSON() ?? value;
}

/** True when a part of a stored parameter is an expression, such as an entry of a list. */
export function holdsExpression(stored: unknown): boolean {
	return typeof stored === 'object' && stored !== null
		? Object.values(stored).some(holdsExpression)
		: typeof stored === 'string' && stored.startsWith('=');
}

const TEMPLATE = /\{\{[^]*?\}\}/;

/** JSON can hold braces of another template language in its texts: n8n's own begin with `$`. */
const N8N_TEMPLATE = /\{\{[^}]*?\$[\w(][^]*?\}\}/;

/**
 * Throws where `{{ … }}` has stayed text, because the field is set to Fixed or the text was pasted: n8n does not evaluate
 * it, and the same text would be bought for each item.
 *
 * @param stored a text, a list of texts, or what was chosen in a list (`value`)
 */
export function assertNoTemplate(stored: unknown, label: string, type?: string): void {
	const texts = isPlainObject(stored) ? [stored.value] : asArray(stored);
	const template = type === 'json' ? N8N_TEMPLATE : TEMPLATE;
	const isTemplate = (text: unknown) => typeof text === 'string' && !text.startsWith('=') && template.test(text);
	if (texts.some(isTemplate))
		throw invalidInput(
			`${label} contains {{ … }} as text, which n8n does not evaluate`,
			`Switch ${label} from Fixed to Expression, above the field. For braces that are meant as text, use an expression, too, and write {{ '{{' }} instead of {{.`,
		);
}

/** Reads the Options: a switch that was not added is off, whatever it is when it arrives in the form. */
export class OptionsReader extends FieldReader {
	override flag(option: INodeProperties): boolean {
		return super.flag({ ...option, default: false });
	}
}

/** A number or a switch that an expression gives is a text, too. */
export function toText(value: unknown, label: string): string {
	if (value === null || value === undefined) return '';
	if (isInexact(value) && Number.isFinite(value))
		throw invalidInput(
			`${label} is the number ${show(value)}, which has been rounded`,
			`Change ${label} to text: a number of more than 15 digits loses its last ones. Pass it on as text from where it comes.`,
		);
	const text = asText(value);
	if (text !== undefined) return text.trim();
	throw gatewayError('notText', { label, value: show(value) });
}

function toJsonObject(label: string, value: unknown): JsonObject {
	if (value === undefined || (typeof value === 'string' && value.trim() === '')) return {};
	let parsed: unknown = value;
	if (typeof value === 'string') {
		try {
			parsed = JSON.parse(value) as unknown;
		} catch (cause) {
			throw notJson(label, cause);
		}
	}
	const changed = typeof value === 'string' ? firstChangedNumber(value) : firstInexactIn(parsed, label);
	if (changed !== undefined)
		throw invalidInput(
			`${label} contains the number ${shorten(changed, 60)}, which cannot be sent exactly`,
			'Enter a number of at most 15 digits. Where the service takes text, too, write the number in quotes; in an expression, pass it on as text from where it comes.',
		);
	return asWritten(parsed, label);
}

const notJson = (label: string, cause: unknown): GatewayError =>
	invalidInput(
		`${label} is not valid JSON`,
		`Check quotes, commas and brackets (${cause instanceof Error ? cause.message : String(cause)}).`,
		{ cause },
	);

/** The same as JSON has it: an expression can give dates, which have no fields of their own. */
function asWritten(given: unknown, label: string): JsonObject {
	const written: unknown = JSON.parse(JSON.stringify(given) ?? 'null');
	if (!isPlainObject(written))
		throw invalidInput(`${label} must be a JSON object`, 'Write it in braces, e.g. {"seed": 42}.');
	return written;
}

/** Of an expression's object: what is not exact any more. Throws where the object cannot be written as JSON at all. */
function firstInexactIn(given: unknown, label: string): string | undefined {
	let first: string | undefined;
	try {
		JSON.stringify(given, (_name, value: unknown) => {
			if (!isInexact(value)) return value;
			first ??= String(value);
			return null;
		});
	} catch (cause) {
		throw notJson(label, cause);
	}
	return first;
}
