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
 * @param {(tell: (result: string) => void) => Promise<T> | T} work `tell` adds to the last line
 * @returns {Promise<T>}
 */
export async function step(title, work) {
	const startedAt = Date.now();
	const live = process.stdout.isTTY === true;
	const clear = live ? '\r\x1b[2K' : '';
	let result = '';
	const end = (/** @type {string} */ mark) => {
		clearInterval(ticking);
		say(`${clear}${mark} ${title}${result && `: ${result}`} (${seconds(Date.now() - startedAt)})`);
	};

	process.stdout.write(`… ${title}${live ? '' : '\n'}`);
	const ticking = setInterval(
		() => {
			const elapsed = `${Math.round((Date.now() - startedAt) / 1000)} s`;
			process.stdout.write(live ? `${clear}… ${title} (${elapsed})` : `  ${elapsed}\n`);
		},
		live ? tickMs : plainTickMs,
	);
	try {
		const value = await work((text) => (result = text));
		end('✓');
		return value;
	} catch (error) {
		end('✗');
		throw error;
	}
}

/** @param {string} text */
export function say(text) {
	process.stdout.write(`${text}\n`);
}

/**
 * The one line at the end of a test run. A run in which nothing was tested has not passed.
 *
 * @param {number} passed
 * @param {number} failed
 * @returns {number} the exit code
 */
export function finish(passed, failed) {
	say(`\n${passed} passed, ${failed} failed`);
	return failed === 0 && passed > 0 ? 0 : 1;
}

/** Something the person at the terminal can act on: shown as it is, without a stack. */
export class ToolError extends Error {
	/**
	 * @param {string} message what happened
	 * @param {string} [remedy] what to do next
	 */
	constructor(message, remedy) {
		super(remedy ? `${message}\n${remedy}` : message);
	}
}
