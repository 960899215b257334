/** Wait: In Another Workflow. What is to be passed along to the workflow that is started arrives, or nothing is bought. */
import type { IDataObject } from 'n8n-workflow';
import { runHandingOver } from '../support/handingOver.mts';
import { quick, quickSandbox, type Sandbox } from '../support/nodes.mts';
import { orderOf } from '../support/orders.mts';

let sandbox: Sandbox;
beforeAll(async () => {
	sandbox = await quickSandbox();
});
afterAll(async () => await sandbox.close());
beforeEach(() => sandbox.reset());

const run = async (passAlong: unknown) => {
	const form = { operation: 'generate', prompt: 'a', passAlong, options: quick } as IDataObject;
	const chosen = { wait: 'inAnotherWorkflow', workflowId: { __rl: true, mode: 'id', value: 'other' } };
	return await runHandingOver(sandbox, { ...form, ...chosen }, [{ json: {} }]);
};

test.each([[{ chat: 5 }], ['{ "chat": 5 }']])('the JSON %j is passed along with each task', async (given) => {
	const { handed } = await run(given);
	expect(handed[0]?.map((row) => orderOf(row).input)).toEqual([{ pass_along: { chat: 5 } }]);
});

test('an expression for Pass Along that gives nothing is a mistake: the started workflow would miss it', async () => {
	const { error, handed } = await run('={{ $json.chta }}');
	expect(error?.message).toBe('Pass Along (JSON) is empty: its expression returned nothing for this item');
	expect([handed, sandbox.tasks]).toEqual([[], []]);
});

test('items that name other workflows are refused: the first one would get the results of all', async () => {
	const form = { operation: 'generate', prompt: 'a', wait: 'inAnotherWorkflow', options: quick };
	const workflowId = { __rl: true, mode: 'id', value: '={{ $json.tenant }}' };
	const of = (...tenants: string[]) => tenants.map((tenant) => ({ json: { tenant } }));
	const { error, handed } = await runHandingOver(sandbox, { ...form, workflowId }, of('one', 'one', 'two'));
	expect(error?.message).toBe(
		'Workflow differs between item 0 and item 2, but only one workflow is started, with all results',
	);
	expect([handed, sandbox.tasks]).toEqual([[], []]);
	const same = await runHandingOver(sandbox, { ...form, workflowId }, of('one', 'one'));
	expect([same.error, same.handed[0]?.length]).toEqual([undefined, 2]);
	const broken = { __rl: true, mode: 'id', value: "={{ $json.tenant ?? $('Nowhere').item.json.tenant }}" };
	const lost = await runHandingOver(sandbox, { ...form, workflowId: broken }, [...of('one'), { json: {} }]);
	expect(lost.error?.message).toBe("Workflow: Referenced node doesn't exist");
});
