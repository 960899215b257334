/** Survive Restarts in an n8n that does not know its own address: what sleeps is woken by n8n's tracker, or by whoever calls it, once. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { freePort } from '../../tools/processes/freePort.mjs';
import { itemsOf, readExecution, startExecution, untilFinished } from '../../tools/n8n/executions.mjs';
import { startInstance, type Instance } from './support/instance.mts';
import { untilListed } from './support/production.mts';
import { until } from './support/until.mts';
import { killWhenRunning } from './support/killWhenRunning.mts';
import { createWorkflow, packageType } from './support/workflow.mts';

/** n8n's tracker wakes an execution that nobody calls, a minute after it has fallen asleep. */
const UNCALLED_MS = 60_000;

let instance: Instance;
/** Nobody listens there. */
let nowhere: string;
before(async () => {
	nowhere = `http://127.0.0.1:${await freePort()}`;
	instance = await startInstance({ env: { WEBHOOK_URL: `${nowhere}/` } });
});
after(() => instance?.close());

const log = () => readFileSync(instance.n8n.logFile, 'utf8');

async function start(prompt: string, more: Record<string, unknown> = {}) {
	const options = { surviveRestarts: true, includeInputFields: true };
	const parameters = { prompt: '={{ $json.prompt }}', options };
	const node = { name: 'Generate', type: packageType('imageGeneration'), parameters };
	const workflowId = await createWorkflow(instance, [{ prompt, ...more }], [node]);
	const beganMs = Date.now();
	const executionId = await startExecution(instance.rest, workflowId, 'Start');
	const innermost = async () => (await untilListed(instance, workflowId, 3))[2];
	/** The address at which n8n would call the execution that polls, but for where n8n is. */
	const address = async () => {
		const inner = await innermost();
		const [noted] = inner === undefined ? [] : itemsOf(await readExecution(instance.rest, inner), 'Note Address');
		const url = new URL(String(noted?.json.details.resume_url));
		return `${instance.n8n.url}${url.pathname}${url.search}`;
	};
	const finish = async () => {
		const execution = await untilFinished(instance.rest, executionId);
		assert.equal(execution.status, 'success', JSON.stringify(execution.error));
		assert.equal(itemsOf(execution, 'Generate')[0]?.json.status, 'completed');
		return { execution, ms: Date.now() - beganMs };
	};
	const hints = async () =>
		JSON.stringify((await readExecution(instance.rest, executionId)).runData.Generate?.[0]?.hints ?? []);
	return { executionId, address, innermost, finish, hints };
}

test('where n8n cannot call itself, the result comes a minute late; the log and the next run say why and what to set', async () => {
	const late = await start('late');
	await until('n8n has been called in vain', () => log().includes('did not wake execution'));
	assert.match(log(), new RegExp(`${nowhere} did not wake execution \\d+ \\(ECONNREFUSED\\), .* set WEBHOOK_URL`));
	const signature = new URL(await late.address()).searchParams.get('signature');
	assert.ok(signature !== null && signature.length > 20);
	assert.ok(!log().includes(signature));
	assert.doesNotMatch(await late.hints(), /could not call itself/);

	const next = await start('next');
	await next.innermost();
	await until('its hint is there', async () => (await next.hints()).includes('could not call itself'));
	// Whoever calls, and however often: n8n wakes it once. Anyone without the signature is turned away.
	const url = await next.address();
	const status = async (of: string) => (await fetch(of)).status;
	assert.equal(await status(url.replace(/signature=.*/, 'signature=none')), 401);
	const answers = await Promise.all(Array.from({ length: 5 }, async () => await status(url)));
	assert.equal(answers.filter((each) => each === 200).length, 1, answers.join());
	const { ms } = await next.finish();
	assert.ok(ms < UNCALLED_MS, `${ms} ms`);
	assert.ok((await late.finish()).ms >= UNCALLED_MS);
	assert.equal(instance.sandbox.tasks.length, 2);
});

/** Enough for n8n to take a while to save it. */
const MEGABYTES = 6;

test('after a kill when an execution has just been woken, the result comes all the same', async () => {
	const { executionId, innermost, address, finish } = await start('woken [[sandbox duration=20s]]', {
		large: 'x'.repeat(MEGABYTES * 2 ** 20),
	});
	const id = String(await innermost());
	// n8n saves it first, and those around it then.
	await until('all are saved', async () => (await readExecution(instance.rest, executionId)).status === 'waiting');
	const url = await address();
	await killWhenRunning(instance, id, async () => await fetch(url));
	await instance.restart();
	await finish();
	assert.equal(instance.sandbox.tasks.filter(({ body }) => String(body.prompt).startsWith('woken')).length, 1);
});
