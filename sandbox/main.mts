import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { DIRECTIVE_KEYS } from './faults/readDirectives.mts';
import { startSandbox } from './index.mts';

/** `npm run sandbox`: the sandbox alone, until Ctrl-C. */

const DEFAULT_PORT = 8787;
const DEFAULT_FILES_PORT = 8788;

const options = {
	port: { type: 'string' },
	'files-port': { type: 'string' },
	key: { type: 'string', multiple: true },
	'image-ms': { type: 'string' },
	'video-ms': { type: 'string' },
	'requests-per-second': { type: 'string' },
	'tasks-at-once': { type: 'string' },
	state: { type: 'string' },
	'naive-callback': { type: 'boolean' },
	help: { type: 'boolean', short: 'h' },
} as const;
const values = readArguments();
const { env } = process;

const sandbox = await startSandbox({
	port: Number(values.port ?? env.SANDBOX_PORT ?? DEFAULT_PORT),
	filesPort: Number(values['files-port'] ?? env.SANDBOX_FILES_PORT ?? DEFAULT_FILES_PORT),
	apiKeys: values.key ?? (env.SANDBOX_API_KEYS ?? 'sandbox-key').split(','),
	...(values['image-ms'] === undefined ? {} : { imageTaskMs: Number(values['image-ms']) }),
	...(values['video-ms'] === undefined ? {} : { videoTaskMs: Number(values['video-ms']) }),
	...(values['requests-per-second'] === undefined ? {} : { requestsPerSecond: Number(values['requests-per-second']) }),
	...(values['tasks-at-once'] === undefined ? {} : { tasksAtOnce: Number(values['tasks-at-once']) }),
	...(values.state === undefined ? {} : { stateFile: values.state }),
	naiveCallback: values['naive-callback'] ?? false,
}).catch((reason: Error) => {
	console.error(`The sandbox cannot start: ${reason.message}. --port and --files-port choose other ports.`);
	process.exit(1);
});

console.log(`Sandbox gateway
  Base URL      ${sandbox.baseUrl}
  API key       ${sandbox.apiKey}
  Result files  ${sandbox.filesUrl}
A prompt can contain directives: [[sandbox duration=2s progress=stuck fail=content_policy_violation]]
  Keys: ${DIRECTIVE_KEYS.join(', ')}
  All of them, and the faults of ${sandbox.baseUrl}/__sandbox, are in npm run sandbox -- --help. Ctrl-C stops.`);

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
	process.once(signal, () => {
		void sandbox.close().then(() => process.exit(0));
	});
}

function readArguments() {
	const usage = `npm run sandbox -- ${Object.entries(options)
		.map(([name, { type }]) => (type === 'string' ? `[--${name} …]` : `[--${name}]`))
		.join(' ')}`;
	try {
		const { values: given } = parseArgs({ options });
		if (!given.help) return given;
		console.log(
			`Starts the sandbox gateway.\n\n  ${usage}\n\n${readFileSync(new URL('help.txt', import.meta.url), 'utf8')}`,
		);
		process.exit(0);
	} catch (reason) {
		console.error(`${(reason as Error).message}\n\n  ${usage}`);
		process.exit(1);
	}
}
