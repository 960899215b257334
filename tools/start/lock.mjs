/** Keeps a second `npm start` from opening the same n8n database. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { devDir } from '../paths.mjs';
import { atEnd } from '../processes/cleanup.mjs';
import { ToolError } from '../report/step.mjs';

const lockFile = join(devDir, 'running.pid');

export function claimDevInstance() {
	const pid = readLock();
	if (pid !== undefined && isRunning(pid)) {
		throw new ToolError(`npm start is already running here (process ${pid}).`, 'Stop it first with Ctrl-C in its terminal.');
	}
	mkdirSync(devDir, { recursive: true });
	writeFileSync(lockFile, String(process.pid));
	atEnd(() => rmSync(lockFile, { force: true }));
}

function readLock() {
	try {
		return Number(readFileSync(lockFile, 'utf8'));
	} catch {
		return undefined;
	}
}

/**
 * A lock that outlived its process (kill -9, power cut) must not count when another program has got the same id since.
 * @param {number} pid
 */
function isRunning(pid) {
	try {
		process.kill(pid, 0);
	} catch {
		return false;
	}
	try {
		return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('start.mjs');
	} catch {
		return true; // no /proc on this system
	}
}
