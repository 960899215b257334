/**
 * Runs a tool: `node tools/run.mjs start --reset` is tools/start.mjs with these arguments; those that measure are in bench/.
 * It cares for what all of them need: the Node check, node_modules, signals, exit codes, errors in plain words. Without a name it only installs.
 *
 * On a fresh clone there is no node_modules yet. What is imported here uses nothing but Node; a tool may use everything.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { inspect } from 'node:util';
import { installLockfile } from './install/npm.mjs';
import { logsDir, projectDir } from './paths.mjs';
import { cleanUp } from './processes/end.mjs';
import { say, ToolError } from './report/step.mjs';

const oldestNode = [20, 15];
const [tool, ...args] = process.argv.slice(2);
/** 130, as shells have it; but Ctrl-C is how `npm start` is meant to end. */
const exitCodeWhenStopped = tool === 'start' ? 0 : 130;

let stoppingSince = 0;
// A closed terminal takes the output away before the children are stopped: that must not end us early.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop);
if (process.env.npm_lifecycle_event) watchParent();

let exitCode = 1;
try {
	requireNode();
	await installLockfile({ title: 'Installing the project’s tools (about a minute)', from: projectDir });
	exitCode = tool ? ((await (await load(tool))(args)) ?? 0) : 0;
} catch (error) {
	if (!stoppingSince) say(`\n${error instanceof ToolError ? error.message : unexpected(error)}`);
}
if (!stoppingSince) {
	await cleanUp();
	process.exit(exitCode);
}

/**
 * Tells in one line what went wrong. The stack is for whoever works on the tools.
 *
 * @param {unknown} error
 */
function unexpected(error) {
	const file = join(logsDir, 'error.log');
	mkdirSync(logsDir, { recursive: true });
	writeFileSync(file, inspect(error));
	return `${error instanceof Error ? error.message : error}\nThis was not expected. Where it happened is in ${relative(projectDir, file)}.`;
}

/**
 * @param {string} name
 * @returns {Promise<(args: string[]) => Promise<number | void>>} its function; what that returns is the exit code
 */
async function load(name) {
	// Some tools are written in TypeScript, or use what is.
	for (const { register } of [await import('tsx/cjs/api'), await import('tsx/esm/api')]) register();
	const files = ['tools', 'bench'].flatMap((folder) => ['mjs', 'mts'].map((type) => `${folder}/${name}.${type}`));
	const file = files.find((candidate) => existsSync(join(projectDir, candidate)));
	if (!file) throw new ToolError(`There is no tool "${name}".`);
	return (await import(`../${file}`)).default;
}

function stop() {
	// npm passes a Ctrl-C on that the terminal has already sent us, so only a later one means impatience.
	if (stoppingSince && Date.now() - stoppingSince < 1000) return;
	if (stoppingSince) process.exit(exitCodeWhenStopped);
	stoppingSince = Date.now();
	say('\nStopping …');
	void cleanUp().then(() => {
		say('Stopped.');
		process.exit(exitCodeWhenStopped);
	});
}

/** npm runs a script in a shell of its own, and neither tells us when it is killed. */
function watchParent() {
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
