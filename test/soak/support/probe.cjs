/**
 * Loaded into n8n with NODE_OPTIONS: every 20 s it writes down how much memory n8n cannot free, and what keeps its event
 * loop alive. It changes nothing in n8n.
 */
const { appendFileSync } = require('node:fs');
const { basename, join } = require('node:path');
const { setFlagsFromString } = require('node:v8');
const { runInNewContext } = require('node:vm');
const { isMainThread } = require('node:worker_threads');

const EVERY_MS = 20_000;
const MEGABYTE = 2 ** 20;

// The process that keeps n8n gets the same environment.
if (isMainThread && basename(process.argv[1] ?? '') === 'n8n') {
	setFlagsFromString('--expose-gc');
	const collectGarbage = runInNewContext('gc');
	const file = join(String(process.env.SOAK_SAMPLES), `${process.env.N8N_PORT}.jsonl`);
	const sample = () => {
		// An ordinary collection keeps compiled code that was used lately: n8n seems to grow for as long as it warms up.
		collectGarbage({ type: 'major', execution: 'sync', flavor: 'last-resort' });
		const { heapUsed } = process.memoryUsage();
		const timers = process.getActiveResourcesInfo().filter((each) => each === 'Timeout').length;
		appendFileSync(
			file,
			`${JSON.stringify({
				atMs: Date.now(),
				pid: process.pid,
				heapMb: heapUsed / MEGABYTE,
				timers,
			})}\n`,
		);
	};
	setInterval(sample, EVERY_MS).unref();
}
