/** Orders that are advanced while n8n saves them, where the user stops the execution. */
import type { INodeExecutionData } from 'n8n-workflow';
import { start } from '../support/engine.mts';
import { runHandingOver } from '../support/handingOver.mts';
import { pause, prompts, quick, quickSandbox, runGateway, toOptions, type Sandbox } from '../support/nodes.mts';
import { orderOf } from '../support/orders.mts';

let sandbox: Sandbox;
/** The first wave is of another account, whose places nobody needs. */
let another: Sandbox;
beforeAll(async () => {
	[sandbox, another] = await Promise.all([quickSandbox(), quickSandbox()]);
});
afterAll(async () => await Promise.all([sandbox.close(), another.close()]));

test('a stop while n8n saves the orders sends nothing more, and leaves the places of the account to others', async () => {
	const generate = { operation: 'generate', prompt: '={{ $json.prompt }}' };
	const credential = { tasksAtOnce: 1 };
	const { handed } = await runHandingOver(
		another,
		{ ...generate, options: { ...quick, surviveRestarts: true, concurrentTasks: 1 } },
		prompts('a', 'b'),
	);
	const later = handed[0]?.filter((row) => orderOf(row).state === 'planned') as INodeExecutionData[];
	const { promise, additionalData } = start(
		toOptions('image', sandbox, { operation: 'durablePollTasks' }, { items: later, credential }),
	);
	const saved: unknown[] = [];
	additionalData.hooks?.addHandler('nodeExecuteAfter', async (name, { data }) => {
		if (name !== 'Node') return;
		saved.push(data?.main[0]?.[0]?.json);
		promise.cancel();
		await pause(0);
	});
	await promise;
	expect(saved).toEqual([{ running: 0, finished: 0, to_be_submitted: 1 }]);
	// Its name would have been written, and its request sent, when the node had begun again.
	const { json } = await runGateway(
		'image',
		sandbox,
		{ ...generate, options: quick },
		{ items: prompts('c'), credential },
	);
	expect(json[0]?.status).toBe('completed');
	expect(sandbox.tasks.map(({ body }) => body.prompt)).toEqual(['c']);
});
