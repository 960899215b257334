/** `npm start`, as somebody sees it who has just cloned the project: what it prints, and that it is true. */
import assert from 'node:assert/strict';
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { createRestClient, owner } from '../../tools/n8n/rest.mjs';
import { projectDir } from '../../tools/paths.mjs';
import { until } from './support/until.mts';

const folder = mkdtempSync(join(tmpdir(), 'generation-gateway-start-'));
let program: ChildProcessWithoutNullStreams;
let lines: string[];
let exitCode: number | null = null;

function begin() {
	const args = [join('tools', 'run.mjs'), 'start', '--data', folder, '--port', '5678'];
	const started = spawn(process.execPath, args, { cwd: projectDir });
	const printed: string[] = [];
	for (const stream of [started.stdout, started.stderr])
		stream.on('data', (data: Buffer) => void printed.push(...data.toString().split('\n')));
	return { started, printed };
}

const printedText = (printed: string[]) => printed.join('\n');
const lineWith = (words: RegExp) => lines.find((line) => words.test(line));
const isReady = () => lineWith(/^Press Ctrl-C/) !== undefined;

before(async () => {
	({ started: program, printed: lines } = begin());
	program.on('exit', (code) => (exitCode = code));
	await until('npm start is ready', () => isReady() || program.exitCode !== null, { withinMs: 900_000 });
	assert.ok(isReady(), printedText(lines));
});

after(async () => {
	program.kill('SIGINT');
	await until('npm start has ended', () => program.exitCode !== null);
	rmSync(folder, { recursive: true, force: true });
});

test('the first address that npm start prints is the workflow to begin with, which opens after the login', async () => {
	const [first = ''] = printedText(lines).match(/https?:\/\/\S+/) ?? [];
	const [, url = '', id] = /^(http:\/\/localhost:\d+)\/workflow\/(\w+)$/.exec(first) ?? [];
	const rest = createRestClient(url);
	await rest.login();
	const { name } = await rest.request('GET', `/rest/workflows/${id}`);
	assert.ok(lineWith(new RegExp(`^ +1\\. .*“${name}”\\.$`)), `${name} is not what the text calls it`);
	for (const shown of [owner.email, owner.password]) assert.ok(printedText(lines).includes(shown));
});

test('a second npm start in the same folder says what to do, and nothing else', async () => {
	const { started, printed } = begin();
	await until('it has ended', () => started.exitCode !== null);
	assert.equal(started.exitCode, 1);
	assert.match(
		printedText(printed),
		/^\s*npm start is already running here \(process \d+\)\.\nStop it first with Ctrl-C in its terminal\.\s*$/,
	);
});

test('Ctrl-C ends npm start well, and no line was a stack trace or a warning of another program', async () => {
	program.kill('SIGINT');
	await until('npm start has ended', () => program.exitCode !== null);
	assert.equal(exitCode, 0);
	assert.equal(lines.findLast(Boolean), 'Stopped.');
	const foreign = lines.filter((line) => /^\s+at |Error\b|[Ww]arn|[Dd]eprecat/.test(line));
	assert.deepEqual(foreign, []);
});
