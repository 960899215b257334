/**
 * Survive Restarts in the settings that users have: the results arrive at once where n8n can call itself. Where it cannot,
 * they come a minute later, and the log says what to set. One n8n is started with one setting after the other, so that
 * what sleeps under the first ones wakes under the last.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { credentialType } from '../../tools/n8n/examples.mjs';
import { itemsOf, readExecution, startExecution, untilFinished } from '../../tools/n8n/executions.mjs';
import { startInstance, type Instance } from './support/instance.mts';
import { untilListed } from './support/production.mts';
import { startProxy, type Proxy } from './support/proxy.mts';
import { until } from './support/until.mts';
import { createWorkflow, packageType } from './support/workflow.mts';

/** The tracker of n8n wakes no execution earlier. */
const TRACKER_MS = 60_000;
const TASK_MS = 2_000;
const PATH = '/n8n';

let instance: Instance;
const proxies: Proxy[] = [];

async function proxy(addressOf: (url: string) => string | undefined): Promise<Proxy> {
	const started = await startProxy(addressOf);
	proxies.push(started);
	return started;
}

const log = () => readFileSync(instance.n8n.logFile, 'utf8');

interface Begun {
	executionId: string;
	innermost: string;
	beganMs: number;
	/** The signature of the execution that polls. */
	signature: string;
}

async function start(parameters: Record<string, unknown>, credential = instance.credential) {
	const node = { name: 'Generate', type: packageType('imageGeneration'), parameters };
	const workflowId = await createWorkflow({ rest: instance.rest, credential }, [{}], [node]);
	return { workflowId, executionId: await startExecution(instance.rest, workflowId, 'Start') };
}

async function begin(prompt: string, credential = instance.credential): Promise<Begun> {
	const parameters = {
		prompt: `${prompt} [[sandbox duration=${TASK_MS}ms]]`,
		downloadResult: false,
		options: { surviveRestarts: true },
	};
	const beganMs = Date.now();
	const { workflowId, executionId } = await start(parameters, credential);
	const [, , innermost = ''] = await untilListed(instance, workflowId, 3);
	let address = '';
	await until('its address is saved', async () => {
		const [noted] = itemsOf(await readExecution(instance.rest, innermost), 'Note Address');
		address = String(noted?.json.details.resume_url ?? '');
		return address !== '';
	});
	return { executionId, innermost, beganMs, signature: new URL(address).searchParams.get('signature') ?? '' };
}

/** Milliseconds until the result was there. */
async function finish({ executionId, beganMs }: Begun): Promise<number> {
	const { status, error, runData, record } = await untilFinished(instance.rest, executionId);
	assert.equal(status, 'success', JSON.stringify(error));
	assert.equal(runData.Generate?.[0]?.data.main[0][0].json.status, 'completed');
	return Date.parse(record.stoppedAt) - beganMs;
}

/** The log says that the call was in vain, why, and what to set; the signature is not in it. */
async function assertAdvised({ innermost, signature }: Begun, origin: string, why: string, advice = 'set WEBHOOK_URL') {
	const words = `${origin} did not wake execution ${innermost} (${why}), so n8n wakes it within about a minute. If that is always so, ${advice}`;
	await until(`the log says "${words}"`, () => log().includes(words));
	assert.ok(signature.length > 20);
	assert.ok(!log().includes(signature));
}

const assertNotAdvised = ({ innermost }: Begun) =>
	assert.ok(!log().includes(`did not wake execution ${innermost} `), 'the call got through');

const isToN8n = (url: string) => url.includes('webhook-waiting') || url.includes(new URL(instance.n8n.url).host);

async function restart(env: Record<string, string>) {
	await instance.end('SIGTERM');
	await instance.restart(env);
}

let login: Proxy;
let late: Record<'login' | 'path', Begun>;

before(async () => {
	login = await proxy(() => undefined);
	instance = await startInstance({ editor: true, env: { WEBHOOK_URL: `${login.url}/` } });
	late = { login: await begin('login'), path: {} as Begun };
	await assertAdvised(late.login, login.url, 'HTTP 401');
	// n8n's address has this path then, but n8n itself answers without it: a proxy has to take it away.
	await restart({ N8N_PATH: `${PATH}/` });
	late.path = await begin('path');
	await assertAdvised(late.path, instance.n8n.url, 'the answer is not from n8n');
});
after(async () => {
	await instance?.close();
	for (const each of proxies) each.close();
});

test('with N8N_SSRF_PROTECTION_ENABLED, and a proxy that takes N8N_PATH away, the result comes at once', async () => {
	const front = await proxy((url) => `${instance.n8n.url}${url.replace(PATH, '')}`);
	await restart({
		N8N_PATH: `${PATH}/`,
		WEBHOOK_URL: `${front.url}${PATH}/`,
		N8N_SSRF_PROTECTION_ENABLED: 'true',
		// The sandbox, by its name only.
		N8N_SSRF_ALLOWED_HOSTNAMES: 'localhost',
	});
	const data = { ...instance.credential.data, baseUrl: instance.sandbox.baseUrl.replace('127.0.0.1', 'localhost') };
	const named = await instance.rest.request('POST', '/rest/credentials', {
		...{ name: 'By name', type: credentialType, data },
	});
	const begun = await begin('protected', { ...instance.credential, id: String(named.id), name: String(named.name) });
	assert.ok((await finish(begun)) < TRACKER_MS);
	assertNotAdvised(begun);
	// On a slow machine, another execution that waits is woken through it meanwhile, too.
	const asked = front.asked.map((url) => url.replace(/signature=.*/, 'signature='));
	const ofThis = `${PATH}/webhook-waiting/${begun.innermost}?signature=`;
	assert.deepEqual(
		asked.filter((url) => url === ofThis || !url.startsWith(`${PATH}/webhook-waiting/`)),
		[ofThis],
	);

	// By its number, n8n does not let nodes send anything to the sandbox: then no item is in doubt.
	const { executionId } = await start({ prompt: 'blocked' });
	const { error } = await untilFinished(instance.rest, executionId);
	assert.match(String(error?.message), /^The service at 127\.0\.0\.1:\d+ could not be reached/);
	assert.match(String(error?.description), /N8N_SSRF_PROTECTION_ENABLED/);
});

test('with HTTP_PROXY, the result comes at once, and the signature does not pass the proxy', async () => {
	const outward = await proxy((url) => url);
	const address = { HTTP_PROXY: outward.url, http_proxy: outward.url, ALL_PROXY: outward.url };
	await restart({ ...address, NO_PROXY: '', no_proxy: '' });
	const begun = await begin('proxied');
	assert.ok((await finish(begun)) < TRACKER_MS);
	assertNotAdvised(begun);
	assert.ok(outward.asked.length > 0, 'what goes to the service passes it');
	assert.deepEqual(outward.asked.filter(isToN8n), []);
});

/** Node's own proxy for what it fetches. n8n runs with Node 24 here, which knows the setting. */
const nodesProxy = ({ url }: Proxy) => ({ NODE_USE_ENV_PROXY: '1', HTTP_PROXY: url, http_proxy: url });

test('with NODE_USE_ENV_PROXY and the host of n8n in NO_PROXY, the result comes at once', async () => {
	const outward = await proxy((url) => url);
	const { hostname } = new URL(instance.n8n.url);
	await restart({ ...nodesProxy(outward), NO_PROXY: hostname, no_proxy: hostname });
	const begun = await begin('not proxied');
	assert.ok((await finish(begun)) < TRACKER_MS);
	assertNotAdvised(begun);
	assert.deepEqual(outward.asked.filter(isToN8n), []);
});

test('with NODE_USE_ENV_PROXY, the signature does not pass the proxy: the result comes a minute late, and the log says what to set', async () => {
	const outward = await proxy((url) => url);
	await restart({ ...nodesProxy(outward), NO_PROXY: '', no_proxy: '' });
	const begun = await begin('proxied by Node');
	const why = 'NODE_USE_ENV_PROXY would send the call through a proxy';
	await assertAdvised(begun, instance.n8n.url, why, 'add the host of this n8n to NO_PROXY');
	assert.ok((await finish(begun)) >= TRACKER_MS);
	assert.ok(outward.asked.length > 0, 'what goes to the service passes it, as n8n has it with HTTP_PROXY');
	assert.ok(!outward.text().includes(begun.signature));
	assert.deepEqual(outward.asked.filter(isToN8n), []);
});

describe('where n8n cannot call itself, its tracker wakes what sleeps', { concurrency: true }, () => {
	for (const [setting, name] of [
		['WEBHOOK_URL of a proxy that asks for a login', 'login'],
		['N8N_PATH without WEBHOOK_URL', 'path'],
	] as const)
		test(`with ${setting}, the result comes a minute late`, async () => {
			assert.ok((await finish(late[name])) >= TRACKER_MS);
		});

	test('where n8n cannot call itself, the call was sent once, and each task was bought once', () => {
		assert.equal(login.asked.length, 1);
		assert.equal(instance.sandbox.tasks.length, 6);
	});
});
