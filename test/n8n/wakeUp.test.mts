/**
 * n8n calls itself to wake what sleeps with Across Restarts. Where it can, it is woken at once, and the signature that the
 * call needs goes to n8n alone. Where it cannot, n8n's tracker wakes it a minute later, and the log says what to set. One n8n
 * is started with one setting after the other.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { credentialType } from '../../tools/n8n/examples.mjs';
import { itemsOf, readExecution, startExecution, untilFinished } from '../../tools/n8n/executions.mjs';
import { startInstance, type Instance } from './support/instance.mts';
import { executionsOf } from './support/production.mts';
import { startProxy, type Proxy } from './support/proxy.mts';
import { until } from './support/until.mts';
import { createWorkflow, packageType } from './support/workflow.mts';

/** The tracker of n8n wakes no execution earlier. */
const TRACKER_MS = 60_000;
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
	/** The execution that polls, and sleeps first. */
	innermost: string;
	beganMs: number;
	/** At which n8n is to call it. */
	address: URL;
}

async function begin(prompt: string, credential = instance.credential): Promise<Begun> {
	const parameters = {
		prompt: `${prompt} [[sandbox duration=2s]]`,
		result: 'urlOnly',
		wait: 'acrossRestarts',
	};
	const beganMs = Date.now();
	const node = { name: 'Generate', type: packageType('imageGeneration'), parameters };
	const workflowId = await createWorkflow({ rest: instance.rest, credential }, [{}], [node]);
	const executionId = await startExecution(instance.rest, workflowId, 'Start');
	let [innermost, address] = ['', ''];
	// Those that write rows are listed as long as they run.
	await until('its address is saved', async () => {
		for (const id of await executionsOf(instance, workflowId)) {
			const execution = await readExecution(instance.rest, id).catch(() => undefined);
			const [noted] = execution === undefined ? [] : itemsOf(execution, 'Note Address');
			if (noted !== undefined) [innermost, address] = [id, String(noted.json.details.resume_url ?? '')];
		}
		return address !== '';
	});
	return { executionId, innermost, beganMs, address: new URL(address) };
}

/** Milliseconds until the result was there. */
async function finish({ executionId, beganMs }: Begun): Promise<number> {
	const { status, error, runData, record } = await untilFinished(instance.rest, executionId);
	assert.equal(status, 'success', JSON.stringify(error));
	assert.equal(runData.Generate?.[0]?.data.main[0][0].json.status, 'completed');
	return Date.parse(record.stoppedAt) - beganMs;
}

const signatureOf = ({ address }: Begun) => {
	const signature = address.searchParams.get('signature') ?? '';
	assert.ok(signature.length > 20);
	return signature;
};

/** The log says that the call was in vain, why, and what to set; the signature is not in it. */
async function assertAdvised(begun: Begun, origin: string, why: string, advice = 'set WEBHOOK_URL') {
	const words = `${origin} did not wake execution ${begun.innermost} (${why}), so n8n wakes it within about a minute. If that is always so, ${advice}`;
	await until(`the log says "${words}"`, () => log().includes(words));
	assert.ok(!log().includes(signatureOf(begun)));
}

/** The log would say that the call was in vain: it was not, so n8n's tracker has had nothing to wake. */
async function assertWokenAtOnce(begun: Begun) {
	await finish(begun);
	assert.ok(!log().includes(`did not wake execution ${begun.innermost} `), 'the call got through');
}

const isToN8n = (url: string) => url.includes('webhook-waiting') || url.includes(new URL(instance.n8n.url).host);

async function restart(env: Record<string, string>) {
	await instance.end('SIGTERM');
	await instance.restart(env);
}

let login: Proxy;
let late: Begun;

before(async () => {
	login = await proxy(() => undefined);
	instance = await startInstance({ env: { WEBHOOK_URL: `${login.url}/` } });
});
after(async () => {
	await instance?.close();
	for (const each of proxies) each.close();
});

test('where n8n cannot call itself, the log and a hint in the next run say what to set; n8n wakes an execution once, for callers with its signature', async () => {
	late = await begin('late');
	await assertAdvised(late, login.url, 'HTTP 401');
	const next = await begin('next');
	const hints = async () =>
		JSON.stringify((await readExecution(instance.rest, next.executionId)).runData.Generate?.[0]?.hints ?? []);
	await until('its hint is there', async () => (await hints()).includes('could not call itself'));
	const { pathname, search } = next.address;
	const statusOf = async (query: string) => (await fetch(`${instance.n8n.url}${pathname}${query}`)).status;
	assert.equal(await statusOf('?signature=none'), 401);
	const answers = await Promise.all(Array.from({ length: 5 }, async () => await statusOf(search)));
	assert.equal(answers.filter((status) => status === 200).length, 1, answers.join());
	await finish(next);
	assert.equal(login.asked.length, 2, 'each was called once');
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
	const { id, name } = await instance.rest.request('POST', '/rest/credentials', {
		name: 'By name',
		type: credentialType,
		data,
	});
	const begun = await begin('protected', { ...instance.credential, id: String(id), name: String(name) });
	await assertWokenAtOnce(begun);
	const call = `${PATH}/webhook-waiting/${begun.innermost}?signature=`;
	assert.equal(front.asked.filter((url) => url.startsWith(call)).length, 1);

	// By its number, n8n does not let nodes send anything to the sandbox: then no item is in doubt.
	const node = { name: 'Generate', type: packageType('imageGeneration'), parameters: { prompt: 'blocked' } };
	const blocked = await startExecution(instance.rest, await createWorkflow(instance, [{}], [node]), 'Start');
	const { error } = await untilFinished(instance.rest, blocked);
	assert.match(String(error?.message), /^The service at 127\.0\.0\.1:\d+ could not be reached/);
	assert.match(String(error?.description), /N8N_SSRF_PROTECTION_ENABLED/);
});

test('with HTTP_PROXY, the result comes at once, and the signature does not pass the proxy', async () => {
	const outward = await proxy((url) => url);
	const address = { HTTP_PROXY: outward.url, http_proxy: outward.url, ALL_PROXY: outward.url };
	await restart({ ...address, NO_PROXY: '', no_proxy: '' });
	await assertWokenAtOnce(await begin('proxied'));
	assert.ok(outward.asked.length > 0, 'what goes to the service passes it');
	assert.deepEqual(outward.asked.filter(isToN8n), []);
});

test('with NODE_USE_ENV_PROXY, the signature does not pass the proxy, and the log says what to set; the result comes a minute late', async () => {
	const outward = await proxy((url) => url);
	const { url } = outward;
	await restart({ NODE_USE_ENV_PROXY: '1', HTTP_PROXY: url, http_proxy: url, NO_PROXY: '', no_proxy: '' });
	const begun = await begin('proxied by Node');
	const why = 'NODE_USE_ENV_PROXY would send the call through a proxy';
	await assertAdvised(begun, instance.n8n.url, why, 'add the host of this n8n to NO_PROXY');
	for (const each of [late, begun]) assert.ok((await finish(each)) >= TRACKER_MS, 'the tracker of n8n has woken it');
	assert.ok(!outward.text().includes(signatureOf(begun)));
	assert.deepEqual(outward.asked.filter(isToN8n), []);
	assert.equal(instance.sandbox.tasks.length, 5, 'each task was bought once');
});
