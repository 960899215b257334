import { startSandbox, type Sandbox } from '../../sandbox/index.mts';
import { IMAGES } from './helpers';
import { temporaryFile } from './temporaryFile.mts';

const FIRST_MS = 1_700_000_000_000;
const TASK_MS = 10_000;
const stateFile = temporaryFile('sandbox.state');

const open: Sandbox[] = [];
afterEach(async () => await Promise.all(open.splice(0).map(async (sandbox) => await sandbox.close())));

async function startAt(ms: number, file = stateFile): Promise<Sandbox> {
	const sandbox = await startSandbox({ stateFile: file, imageTaskMs: TASK_MS, now: () => ms });
	open.push(sandbox);
	return sandbox;
}

async function stop(sandbox: Sandbox): Promise<void> {
	open.splice(open.indexOf(sandbox), 1);
	await sandbox.close();
}

async function ask({ api, apiKey }: Sandbox, method: 'GET' | 'POST', url: string, payload?: object) {
	const headers = { authorization: `Bearer ${apiKey}` };
	const answer = await api.inject({ method, url, headers, ...(payload === undefined ? {} : { payload }) });
	return Object.assign({}, JSON.parse(answer.body)) as Record<string, unknown>;
}

test('tasks, files, balance and assets outlive a restart of the sandbox; without the file it starts empty', async () => {
	const before = await startAt(FIRST_MS);
	const { id } = await ask(before, 'POST', IMAGES, { model: 'gamma-image-2', prompt: 'a cat' });
	const endless = { model: 'gamma-image-2', prompt: 'a cat [[sandbox duration=never]]' };
	const { id: endlessId } = await ask(before, 'POST', IMAGES, endless);
	const asset = before.addAsset();
	const balance = await ask(before, 'GET', '/v1/user/balance');
	await stop(before);

	const after = await startAt(FIRST_MS + TASK_MS);
	expect(await ask(after, 'GET', `${IMAGES}/${id}`)).toMatchObject({ id, status: 'completed' });
	expect(await ask(after, 'GET', `${IMAGES}/${endlessId}`)).toMatchObject({ status: 'in_progress' });
	expect((await after.files.inject(`/results/${id}/0.png`)).statusCode).toBe(200);
	expect(await ask(after, 'GET', '/v1/user/balance')).toEqual(balance);
	expect(after.users[0]?.usedCredits).toBeGreaterThan(0);
	expect((await ask(after, 'GET', `/v1/videos/alpha-video-2-0/private-avatar/assets/${asset.id}`)).success).toBe(true);

	const empty = await startAt(FIRST_MS, temporaryFile('other.state'));
	expect(empty.tasks).toEqual([]);
});
