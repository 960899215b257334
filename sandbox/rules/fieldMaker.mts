import type { Body, Fields, NumberRule, StringRule } from './fields.mts';

/** Chance, so that the same chance gives the same request again. */
export interface Dice {
	pick<T>(choices: readonly T[]): T;
	/** The bounds belong to it. */
	integer(min: number, max: number): number;
	/** At most so many characters. */
	text(max: number): string;
}

/** Files that can be linked to; the asset must be there. */
export const ASSET_ID = 'pa_123';
const LINKS = [
	'https://example.com/a.png',
	'http://example.com/b.mp4',
	'https://example.com/c.png?width=3&name=d%20e#top',
	'HTTPS://EXAMPLE.COM/F',
	`asset://${ASSET_ID}`,
];
const ANYTHING = ['turbo', '', 7.5, -1, 0, 20, true, null, [1, null, 'a'], { a: { b: null, c: [] } }];
const LONG = 40_000;

/** In place of a reader: makes up each field that the rules of a model ask for, as they want it. */
export class FieldMaker implements Fields {
	private readonly asked = new Set<string>();

	constructor(
		private readonly dice: Dice,
		readonly body: Body = {},
	) {
		for (const name of Object.keys(body)) this.asked.add(name);
	}

	has(name: string): boolean {
		return Object.hasOwn(this.body, name);
	}

	any(name: string, seen: readonly unknown[]): unknown {
		return this.perhaps(name, () => this.dice.pick(this.dice.pick([seen, ANYTHING])));
	}

	string(name: string, rule: StringRule = {}): string | undefined {
		return this.perhaps(name, () => this.text(rule));
	}

	requiredString(name: string, rule: StringRule = {}): string {
		return this.made(name, () => this.text({ nonEmpty: true, ...rule }));
	}

	integer(name: string, { oneOf, min = -5, max = min + 100 }: NumberRule = {}): number | undefined {
		return this.perhaps(name, () => (oneOf ? this.dice.pick(oneOf) : this.dice.integer(min, max)));
	}

	boolean(name: string): boolean | undefined {
		return this.perhaps(name, () => this.dice.pick([true, false]));
	}

	link(name: string): string {
		return this.made(name, () => this.dice.pick(LINKS));
	}

	links(name: string): string[] {
		return this.perhaps(name, () => this.several(() => this.dice.pick(LINKS))) ?? [];
	}

	openObject(name: string): Fields | undefined {
		const inner = new FieldMaker(this.dice);
		const body = this.perhaps(name, () => inner.body);
		if (body === undefined) return undefined;
		if (this.dice.pick([true, false])) body.other = this.dice.pick(ANYTHING);
		return inner;
	}

	objects<T>(name: string, read: (entry: Fields) => T): T[] {
		const results: T[] = [];
		this.perhaps(name, () =>
			this.several(() => {
				const inner = new FieldMaker(this.dice);
				results.push(read(inner));
				return inner.body;
			}),
		);
		return results;
	}

	private several<T>(make: () => T): T[] {
		return Array.from({ length: this.dice.pick([0, 1, 1, 2, 2, 3, 5]) }, make);
	}

	private text({ oneOf, nonEmpty, maxLength = LONG }: StringRule): string {
		if (oneOf) return this.dice.pick(oneOf);
		const text = this.dice.pick([
			() => this.dice.text(maxLength),
			() => 'A cat',
			() => `<<<image_${this.dice.integer(1, 3)}>>> and <<<image_1>>>`,
			() => '',
			() => '5',
			() => '😀'.repeat(Math.min(maxLength, LONG)),
		])();
		return nonEmpty && text.trim() === '' ? 'x' : text;
	}

	private perhaps<T>(name: string, make: () => T): T | undefined {
		return this.asked.has(name) || this.dice.pick([true, true, false]) ? this.made(name, make) : undefined;
	}

	/** The same each time that it is asked for. */
	private made<T>(name: string, make: () => T): T {
		if (!this.asked.has(name)) this.body[name] = make();
		this.asked.add(name);
		return this.body[name] as T;
	}
}
