/** How a tool's process begins and ends: the Node check, signals, exit codes, errors in plain words. */
import { say, ToolError } from '../report/step.mjs';
import { cleanUp } from './cleanup.mjs';

const oldestNode = [20, 15];

/**
 * Runs a tool, undoes what it started, and leaves with its exit code.
 *
 * @param {() => Promise<number | void>} tool returns the exit code
 * @param {{ exitCodeWhenStopped?: number }} [options] 130, as shells have it, unless being stopped is the normal end
 * @returns {Promise<never>}
 */
export async function main(tool, { exitCodeWhenStopped = 130 } = {}) {
	// A closed terminal takes the output away before the children are stopped: that must not end us early.
	process.stdout.on('error', () => {});
	process.stderr.on('error', () => {});

	let stoppingSince = 0;
	const stop = () => {
		// npm passes a Ctrl-C on that the terminal has already sent us, so only a later one means impatience.
		if (stoppingSince && Date.now() - stoppingSince < 1000) return;
		if (stoppingSince) process.exit(exitCodeWhenStopped);
		stoppingSince = Date.now();
		say('\nStopping …');
		void cleanUp().then(() => {
			say('Stopped.');
			process.exit(exitCodeWhenStopped);
		});
	};
	for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop);
	if (process.env.npm_lifecycle_event) whenParentIsGone(stop);

	let exitCode = 1;
	try {
		requireNode();
		exitCode = (await tool()) ?? 0;
	} catch (error) {
		if (!stoppingSince) say(`\n${error instanceof ToolError ? error.message : describe(error)}`);
	}
	if (stoppingSince) return new Promise(() => {}); // the signal's own handler ends the process
	await cleanUp();
	process.exit(exitCode);
}

/**
 * npm runs a script in a shell of its own, and neither tells us when it is killed.
 * @param {() => void} stop
 */
function whenParentIsGone(stop) {
	const parent = process.ppid;
	const watch = setInterval(() => {
		if (process.ppid === parent) return;
		clearInterval(watch);
		stop();
	}, 1000);
	watch.unref();
}

function requireNode() {
	const [major, minor] = process.versions.node.split('.').map(Number);
	if (major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1])) return;
	throw new ToolError(
		`This needs Node ${oldestNode.join('.')} or newer; this is Node ${process.versions.node}.`,
		'Install a newer Node from https://nodejs.org and try again.',
	);
}

/** @param {unknown} error */
function describe(error) {
	return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
