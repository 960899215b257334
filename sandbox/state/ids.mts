const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** Random letters and digits, as ids and keys are made of. */
export function randomText(length: number, random: () => number): string {
	let text = '';
	for (let i = 0; i < length; i += 1) text += LETTERS.charAt(Math.floor(random() * LETTERS.length));
	return text;
}

/**
 * Makes ids that never repeat within one sandbox, even when `random` does (a test may inject a constant).
 */
export class IdMaker {
	private made = 0;

	constructor(private readonly random: () => number) {}

	id(prefix: string): string {
		this.made += 1;
		return `${prefix}${this.made.toString(36).padStart(4, '0')}${randomText(18, this.random)}`;
	}
}
