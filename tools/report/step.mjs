/** Shows what is being done, for how long already, and how long it took. */

const tickMs = 1000;
const plainTickMs = 15_000;

/** @param {number} ms */
export const seconds = (ms) => `${(ms / 1000).toFixed(ms < 9950 ? 1 : 0)} s`;

/**
 * A terminal gets one line that ticks; a log file or CI gets a line at the start, one every 15 seconds, and one at the end.
 *
 * @template T
 * @param {string} title what is being done, e.g. "Installing n8n 2.41.0"
 * @param {(progress: { detail: (text: () => string) => void, result: (text: string) => void }) => Promise<T> | T} work
 *   `detail` is asked for a short progress text at every tick; `result` is added to the last line
 * @returns {Promise<T>}
 */
export async function step(title, work) {
	const startedAt = Date.now();
	const live = process.stdout.isTTY === true;
	let detail = () => '';
	let result = '';

	const elapsed = () => seconds(Math.floor((Date.now() - startedAt) / 1000) * 1000).replace('.0', '');
	const tick = () => {
		const text = [elapsed(), detail()].filter(Boolean).join(', ');
		if (live) process.stdout.write(`\r\x1b[2K… ${title} (${text})`);
		else say(`  ${text}`);
	};
	const end = (/** @type {string} */ mark) => {
		clearInterval(ticking);
		if (live) process.stdout.write('\r\x1b[2K');
		say(`${mark} ${title}${result && `: ${result}`} (${seconds(Date.now() - startedAt)})`);
	};

	if (live) process.stdout.write(`… ${title}`);
	else say(`… ${title}`);
	const ticking = setInterval(tick, live ? tickMs : plainTickMs);
	try {
		const value = await work({ detail: (text) => (detail = text), result: (text) => (result = text) });
		end('✓');
		return value;
	} catch (error) {
		end('✗');
		throw error;
	}
}

/** @param {string} [text] */
export function say(text = '') {
	process.stdout.write(`${text}\n`);
}

/** Something the person at the terminal can act on: shown as it is, without a stack. */
export class ToolError extends Error {
	/**
	 * @param {string} message what happened
	 * @param {string} [remedy] what to do next
	 */
	constructor(message, remedy) {
		super(remedy ? `${message}\n${remedy}` : message);
		this.name = 'ToolError';
	}
}
