import { invalidRequest } from '../http/refusal.mts';
import { checkLink, type LinkCheck } from './links.mts';

/** Reads a request body field by field, refuses what has the wrong type or value, and remembers what nobody asked for. */

export type Body = Record<string, unknown>;

export function isObject(value: unknown): value is Body {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export interface StringRule {
	oneOf?: readonly string[];
	/** In characters as people count them, not in bytes. */
	maxLength?: number;
	/** Spaces alone do not count. */
	nonEmpty?: boolean;
}

export interface NumberRule {
	min?: number;
	max?: number;
	oneOf?: readonly number[];
}

/** The methods that the rules of a model need: to read a body, or to make up one that fits (`fieldMaker.mts`). */
export type Fields = Pick<
	FieldReader,
	'any' | 'string' | 'requiredString' | 'integer' | 'boolean' | 'link' | 'links' | 'openObject' | 'objects' | 'has'
>;

export class FieldReader {
	private readonly asked = new Set<string>(['sandbox']);
	private readonly innerUnknown: string[] = [];

	constructor(
		private readonly body: Body,
		private readonly path = '',
	) {}

	has(name: string): boolean {
		return this.raw(name) !== undefined;
	}

	/** A field of which the contract shows neither type nor all values, only some that were seen. */
	any(name: string, _seen: readonly unknown[]): unknown {
		return this.raw(name);
	}

	string(name: string, rule: StringRule = {}): string | undefined {
		const value = this.raw(name);
		if (value === undefined) return undefined;
		if (typeof value !== 'string') throw this.wrong(name, 'must be a string');
		if (rule.oneOf && !rule.oneOf.includes(value))
			throw this.wrong(name, `must be one of ${rule.oneOf.join(', ')}, not "${value}"`);
		if (rule.nonEmpty && value.trim() === '') throw this.wrong(name, 'must not be empty');
		if (rule.maxLength !== undefined && [...value].length > rule.maxLength) {
			throw this.wrong(name, `must have at most ${rule.maxLength} characters, not ${[...value].length}`);
		}
		return value;
	}

	requiredString(name: string, rule: StringRule = {}): string {
		const value = this.string(name, { nonEmpty: true, ...rule });
		if (value === undefined) throw this.wrong(name, 'is required');
		return value;
	}

	number(name: string, rule: NumberRule = {}): number | undefined {
		const value = this.raw(name);
		if (value === undefined) return undefined;
		if (typeof value !== 'number' || !Number.isFinite(value)) throw this.wrong(name, 'must be a number');
		if (rule.oneOf && !rule.oneOf.includes(value))
			throw this.wrong(name, `must be ${rule.oneOf.join(' or ')}, not ${value}`);
		if (rule.min !== undefined && value < rule.min)
			throw this.wrong(name, `must be at least ${rule.min}, not ${value}`);
		if (rule.max !== undefined && value > rule.max) throw this.wrong(name, `must be at most ${rule.max}, not ${value}`);
		return value;
	}

	integer(name: string, rule: NumberRule = {}): number | undefined {
		const value = this.number(name, rule);
		if (value !== undefined && !Number.isInteger(value)) throw this.wrong(name, `must be a whole number, not ${value}`);
		return value;
	}

	boolean(name: string): boolean | undefined {
		const value = this.raw(name);
		if (value === undefined || typeof value === 'boolean') return value;
		throw this.wrong(name, 'must be true or false');
	}

	/** A required link to a file. */
	link(name: string, check: LinkCheck): string {
		const value = this.requiredString(name);
		checkLink(value, this.path + name, check);
		return value;
	}

	/** A list of links to files. */
	links(name: string, check: LinkCheck): string[] {
		const value = this.raw(name);
		if (value === undefined) return [];
		if (!Array.isArray(value)) throw this.wrong(name, 'must be a list of strings');
		return value.map((entry: unknown, index) => {
			if (typeof entry !== 'string') throw this.wrong(`${name}[${index}]`, 'must be a string');
			checkLink(entry, `${this.path}${name}[${index}]`, check);
			return entry;
		});
	}

	/** A reader for an object whose other contents the contract does not show: nothing in it counts as unknown. */
	openObject(name: string): Fields | undefined {
		const value = this.raw(name);
		if (value === undefined) return undefined;
		if (!isObject(value)) throw this.wrong(name, 'must be an object');
		return new FieldReader(value, `${this.path}${name}.`);
	}

	/** Reads each object of a list; fields in it that `read` does not ask for count as unknown. */
	objects<T>(name: string, read: (entry: Fields) => T): T[] {
		const value = this.raw(name);
		if (value === undefined) return [];
		if (!Array.isArray(value)) throw this.wrong(name, 'must be a list of objects');
		return value.map((entry: unknown, index) => {
			const path = `${name}[${index}]`;
			if (!isObject(entry)) throw this.wrong(path, 'must be an object');
			const reader = new FieldReader(entry, `${this.path}${path}.`);
			const result = read(reader);
			this.innerUnknown.push(...reader.unknownFields());
			return result;
		});
	}

	unknownFields(): string[] {
		const own = Object.keys(this.body).filter((name) => !this.asked.has(name));
		return [...own.map((name) => this.path + name), ...this.innerUnknown];
	}

	wrong(name: string, problem: string): Error {
		return invalidRequest(`${this.path}${name} ${problem}`);
	}

	private raw(name: string): unknown {
		this.asked.add(name);
		return Object.hasOwn(this.body, name) ? this.body[name] : undefined;
	}
}
