/**
 * Runs a program that is not Node's as if it were a server of ours: it is stopped when this process is asked to stop,
 * and so also when the tool is gone (see stopWithParent.cjs). Its only argument is JSON:
 * { command, args, stopSignal, uid, gid }.
 */
const { spawn } = require('node:child_process');

const { command, args, stopSignal, uid, gid } = JSON.parse(process.argv[2]);
const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'], uid, gid });

for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => child.kill(stopSignal));
child.on('error', (error) => {
	console.error(error.message);
	process.exit(1);
});
child.on('exit', (code) => process.exit(code ?? 1));
