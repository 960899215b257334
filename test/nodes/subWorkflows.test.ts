/** The sub-workflows that the nodes give to n8n, as n8n stores them with each execution. */
import type { IExecuteWorkflowInfo, INode, IWorkflowBase } from 'n8n-workflow';
import { pollWhenCalled, tryWaitAndStart, waitAndOutputResults, waitAndStart } from '../../nodes/durable/subWorkflow';
import { runDataTableNode } from '../../nodes/purchaseLog/dataTableNode';
import { DataTables } from '../support/dataTables.mts';
import { storedSubWorkflows } from '../support/subWorkflows.mts';

const worker: INode = {
	...{ id: 'n', name: 'Node', type: 'package.ToolboxTool', typeVersion: 1, position: [0, 0] },
	credentials: { gateway: { id: 'c', name: 'Account' } },
	parameters: { prompt: 'a secret' },
	onError: 'stopWorkflow',
};

test.each([
	['hands results out', waitAndOutputResults(worker, 'continueErrorOutput')],
	['polls', pollWhenCalled(worker)],
	['starts another workflow', waitAndStart(worker, 'other', 'alarm')],
])('the sub-workflow that %s is stored as ever, with nothing of the form of the node', (name, code) => {
	expect(JSON.parse(JSON.stringify(code))).toEqual(storedSubWorkflows[name]);
});

test('the sub-workflow that writes the purchase log is stored as ever', async () => {
	let code: IExecuteWorkflowInfo['code'];
	const context = new DataTables().contextOf('w');
	context.executeWorkflow = async (workflow) => {
		({ code } = workflow);
		return await Promise.resolve({ executionId: 'sub', data: [null] });
	};
	await runDataTableNode(context, { operation: 'get' });
	expect(JSON.parse(JSON.stringify(code))).toEqual(storedSubWorkflows['writes the purchase log']);
});

test('a sub-workflow that is only tried is the same as the one that is started, and leaves nothing', () => {
	const { settings, ...tried } = tryWaitAndStart(worker, 'other') as IWorkflowBase;
	const { settings: kept, ...started } = waitAndStart(worker, 'other') as IWorkflowBase;
	expect(tried).toEqual(started);
	expect(settings).toEqual({ ...kept, saveDataSuccessExecution: 'none', saveDataErrorExecution: 'none' });
});
