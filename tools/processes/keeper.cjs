/**
 * Runs a server until it is asked to stop or the tool that started it is gone, however that ended (kill -9 included):
 * the tool holds the other end of our stdin. No n8n or database is left behind on its port.
 */
const { spawn } = require('node:child_process');
const { openSync, writeSync } = require('node:fs');

const { command, args, logFile, stopSignal, graceMs } = JSON.parse(process.argv[2]);
const log = openSync(logFile, 'a');
const child = spawn(command, args, { stdio: ['ignore', log, log] });
const killGroup = () => process.kill(-process.pid, 'SIGKILL');

let isOrphan = false;
const stop = () => child.kill(stopSignal);
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, stop);
process.stdin.resume().on('close', () => {
	isOrphan = true;
	stop();
	setTimeout(killGroup, graceMs);
});

child.on('error', (error) => {
	writeSync(log, `${error.message}\n`);
	process.exit(1);
});
child.on('exit', (code, signal) => {
	if (isOrphan) killGroup(); // nobody else ends what the server has left
	if (signal) writeSync(log, `Ended by ${signal}.\n`);
	process.exit(code ?? 1);
});
