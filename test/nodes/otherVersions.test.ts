/**
 * A person may install an older version of the package while orders of a newer one sleep in n8n: what this version cannot know ends with
 * its ID. Versions from that of 1.0.0 on are read for ever: `storedFormats.test.ts`.
 */
import type { INodeExecutionData } from 'n8n-workflow';
import { ORDER_VERSION } from '../../core/orders/order';
import { toOrderItem, withHandOver } from '../../nodes/durable/orderItems';
import { runGateway, quickSandbox, type Sandbox } from '../support/nodes.mts';
import { acceptedOrder, handOver, orderOf, plannedOrder } from '../support/orders.mts';

let sandbox: Sandbox;
beforeAll(async () => {
	sandbox = await quickSandbox();
});
afterAll(async () => await sandbox.close());

const FILE = {
	id: 'filesystem-v2:workflows/wf/executions/1/binary_data/0',
	data: 'filesystem-v2',
	mimeType: 'image/png',
};

/** A task that was accepted, with a file, and a request that was still to be sent: as another version has stored them. */
function storedBy(version: number): INodeExecutionData[] {
	const [accepted, planned] = withHandOver([acceptedOrder(0), plannedOrder(1)].map(toOrderItem), handOver());
	const items = [{ ...accepted, binary: { data: FILE } }, planned] as INodeExecutionData[];
	for (const item of items) Object.assign(orderOf(item), { version, a_field_of_another_version: true });
	return items;
}

test.each([0, ORDER_VERSION + 1, 999])(
	'orders of version %d end with an error that names the task, nothing is sent for them, and they stay as they are',
	async (version) => {
		const items = storedBy(version);
		const { items: ended } = await runGateway('image', sandbox, { operation: 'durablePollTasks' }, { items });
		expect(
			ended.map((item) => orderOf(item)).map(({ end, task, about }) => [end?.error?.message, task?.taskId, about]),
		).toEqual([
			[
				'Another version of this package has stored task known-0, and this version cannot read it',
				'known-0',
				{ stored: orderOf(items[0] as INodeExecutionData), binary: { data: FILE } },
			],
			[
				'Another version of this package has stored this item, and this version cannot read it',
				undefined,
				{ stored: orderOf(items[1] as INodeExecutionData) },
			],
		]);
		expect(sandbox.requests).toEqual([]);
	},
);
