/** The output of the step Results, once all orders have ended, and the question behind it. */
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { waitAndOutputResults } from '../../nodes/durable/subWorkflow';
import { runOwn } from '../simulation/support/subWorkflowState.mts';
import { runHandingOver } from '../support/handingOver.mts';
import { prompts, quick, quickSandbox, type Sandbox } from '../support/nodes.mts';
import { endedRow } from '../support/orders.mts';

let sandbox: Sandbox;
beforeAll(async () => {
	sandbox = await quickSandbox();
});
afterAll(async () => await sandbox.close());

describe('an item that was handed out is taken for no row, whatever the input had', () => {
	const names = [
		['a field of the name of the order', { gateway_order: 'from elsewhere' }],
		['details with such a field', { details: { gateway_order: 'from elsewhere' } }],
	] as const;
	const worker = {
		id: '1',
		name: 'Node',
		type: 'x',
		typeVersion: 1,
		position: [0, 0] as [number, number],
		parameters: {},
	};

	test.each(
		names.flatMap(([title, fields]) =>
			(['durableHandOut', 'durableHandOutToErrors'] as const).map((operation) => [title, operation, fields] as const),
		),
	)('%s, %s', async (_, operation, fields) => {
		const input = prompts('a', 'b').map(({ json }) => ({ json: { ...json, ...fields } }));
		const options = { ...quick, surviveRestarts: true, includeInputFields: true };
		const { handed } = await runHandingOver(
			sandbox,
			{ operation: 'generate', prompt: '={{ $json.prompt }}', options },
			input,
		);
		const [first, second] = handed[0] as [INodeExecutionData, INodeExecutionData];
		const ended = [endedRow(first, { task_id: 't', status: 'completed' }), endedRow(second, 'no luck')];
		const { items } = await runHandingOver(sandbox, { operation }, ended);
		expect(items.map(({ json }) => json.prompt ?? (json.details as IDataObject).prompt)).toEqual(['a', 'b']);
		const question = waitAndOutputResults(worker, 'continueErrorOutput')?.nodes.find(
			({ name }) => name === 'All Finished?',
		);
		expect(question && runOwn(question, items)).toEqual([items, []]);
		expect(question && runOwn(question, ended)).toEqual([[], ended]);
	});
});
