/** n8n keeps nothing of a node that is stopped or killed, so each ID is in n8n's log as soon as it is known, and in the data of the execution. */
import { ExecuteContext } from 'n8n-core';
import { pause, prompts, quick, quickSandbox, runGateway, startGateway, type Sandbox } from '../support/nodes.mts';

let sandbox: Sandbox;
beforeAll(async () => {
	sandbox = await quickSandbox();
});
afterAll(async () => await sandbox.close());
let log: string[];
beforeEach(() => {
	sandbox.reset();
	log = [];
	const keep = (line: string) => void log.push(line);
	const logger = { debug: () => {}, info: keep, warn: keep, error: keep };
	jest.spyOn(ExecuteContext.prototype, 'logger', 'get').mockReturnValue(logger as never);
});
afterEach(() => jest.restoreAllMocks());

const generate = { operation: 'generate', prompt: '={{ $json.prompt }}', options: quick };
const acceptedLines = () =>
	log.flatMap((line) => /^Generation Gateway: (.* was accepted.*), execution exec\d+$/.exec(line)?.[1] ?? []);

test('n8n’s log names each task with its model, node and item', async () => {
	await runGateway('image', sandbox, { ...generate, wait: 'dontWait' }, { items: prompts('a', 'b') });
	expect(acceptedLines().sort()).toEqual(
		sandbox.tasks
			.map(
				({ id, body }) => `task ${id} (gamma-image-2) was accepted, node "Node", item ${body.prompt === 'a' ? 0 : 1}`,
			)
			.sort(),
	);
});

test('n8n’s log names what else was created, but no key', async () => {
	const token = { operation: 'create', name: 'Nightly', quota: 'limited', amount: 100, unit: 'credits' };
	const { json } = await runGateway('token', sandbox, token);
	const group = await runGateway('avatar', sandbox, { resource: 'group', operation: 'create', name: 'Team' });
	expect(acceptedLines()).toEqual([
		expect.stringMatching(new RegExp(`^token ${String(json[0].id)}\\b`)),
		expect.stringMatching(new RegExp(`^group ${String(group.json[0].group_id)}\\b`)),
	]);
	expect(log.join()).not.toContain(json[0].api_key);
});

test.each([
	['an ID of the service', 'a\nb', {}, 'task a b (gamma-image-2)'],
	['the name of the node', 'a', {}, 'task a (gamma-image-2)', 'Node\n\u001b[31m\u202eB', 'Node [31m B'],
	[
		'a Model ID',
		'a',
		{ model: 'custom', customModelId: '={{ "m\\n\\u001b[31m" }}', customBody: '{"prompt":"a"}' },
		'task a (m [31m)',
	],
])('%s cannot forge a line of the log', async (_, id, parameters, named, name = 'Node', shown = name) => {
	sandbox.faults.add({ on: 'create', do: { status: 200, body: { id, status: 'queued' } } });
	const options = { items: prompts('a'), settings: { name } };
	await runGateway('image', sandbox, { ...generate, wait: 'dontWait', ...parameters }, options);
	expect(acceptedLines()).toEqual([`${named} was accepted, node "${shown}", item 0`]);
});

/** Stops the run of these prompts when the service has all of them, and the only quick one has its file. */
async function stopped(...texts: string[]) {
	const options = { ...quick, concurrentTasks: 20 };
	const { promise } = startGateway('image', sandbox, { ...generate, options }, { items: prompts(...texts, 'quick') });
	while (sandbox.tasks.length <= texts.length || sandbox.fileRequests.length === 0) await pause(20);
	// n8n stores the file, which takes a busy machine so long.
	await pause(3_000);
	promise.cancel();
	const { data } = await promise;
	const { metadata } = data.resultData as { metadata?: Record<string, string> };
	const quickId = sandbox.tasks.find(({ body }) => body.prompt === 'quick')?.id;
	const late = sandbox.tasks.map(({ id }) => id).filter((id) => id !== quickId);
	return { late, quickId, named: metadata?.gateway_tasks_Node ?? '' };
}
const LATE = 'a [[sandbox duration=60s]]';

test('after a stop, n8n’s log names the tasks that the service still works on', async () => {
	const { late } = await stopped(LATE);
	expect(log.filter((line) => line.includes('still running'))).toEqual([
		`Generation Gateway: the execution was stopped, still running at the service: ${late.join()}`,
	]);
});

test('the data of the execution name as many tasks as n8n takes, and first those that have not finished', async () => {
	const few = await stopped(LATE);
	expect(few.named).toBe(`${few.late.join()} ${few.quickId}`);
	sandbox.reset();
	const { late, named } = await stopped(...Array<string>(12).fill(LATE));
	expect(named.length).toBeGreaterThan(200);
	// n8n logs an error for a longer one.
	expect(named.length).toBeLessThanOrEqual(255);
	expect(named.split(' ').filter((id) => !late.includes(id))).toEqual([]);
});
