/** Breakages of supervisors and pollers, and of what they know of each other by the rows. */

/** @type {import('./breakages.mjs').Breakage[]} */
export const pollers = [
	{
		promise: 'a retry that hands its orders over passes on what n8n has saved of the first try',
		file: 'nodes/durable/handedOver.ts',
		find: 'ledger.beginsWith(run.ledger ?? {});',
		becomes: '',
		noticedBy: 'test/nodes/handedOver.test.ts',
		title: 'a retry that hands its orders over',
	},
	{
		promise: 'what was passed on does not come back when the execution has forgotten it',
		file: 'core/orders/ledger.ts',
		find: 'if (KEY in this.scope.store) return;',
		becomes: '',
		noticedBy: 'test/core/ledger.test.ts',
	},
	{
		promise: 'a poller whose lease could not be written submits nothing',
		file: 'core/journal/fence.ts',
		find: 'if (error !== undefined) return',
		becomes: 'if (error !== undefined && (false as boolean)) return',
	},
	{
		promise: 'the lease of a poller is there before it is started',
		file: 'core/journal/fence.ts',
		find: 'const found = await outlasting(clock, insert).catch(',
		becomes: 'const found = await outlasting(clock, async () => await table.look(look)).catch(',
	},
	{
		promise: 'a retry by a person of an execution that waits submits nothing',
		file: 'nodes/durable/supervisor.ts',
		find: 'if ((isRetry && !startsWorkflow(context)) || isLate(handOver)) return',
		becomes: 'if (isLate(handOver)) return',
	},
	{
		promise: 'a retry by a person of an execution that starts another workflow goes on with what is left',
		file: 'nodes/durable/supervisor.ts',
		find: 'isRetry && !startsWorkflow(context)',
		becomes: 'isRetry',
		noticedBy: 'test/nodes/handedOver.test.ts',
		title: 'a person’s retry of one that starts another workflow',
	},
	{
		promise: 'a poller that a person has stopped is not replaced',
		file: 'nodes/durable/supervisor.ts',
		find: "if (left.wasStoppedByHand || (await leftOf(context, memory.parked)).wasStoppedByHand) return '';",
		becomes: '',
	},
	{
		promise: 'a retry by a person of an execution that polls sends nothing',
		file: 'nodes/durable/poller.ts',
		find: "if (context.getMode() === 'retry') return await cancel(context, memory, orders);",
		becomes: '',
	},
	{
		promise: 'a poller goes on with what the rows of dead ones tell',
		file: 'nodes/durable/poller.ts',
		find: 'await this.journal.takeOver(orders);',
		becomes: '',
	},
	{
		promise: 'an ID that n8n has saved counts',
		file: 'nodes/durable/poller.ts',
		find: 'for (const order of orders) rememberSaved(order, this.ledger);',
		becomes: 'for (const order of orders) delete order.task;',
	},
	{
		promise: 'a task that has failed ends its order after a death, too',
		file: 'core/journal/replay.ts',
		find: "row.state === 'failed' && row.task_id !== '' && isLast(row) ?",
		becomes: "row.state === 'failed' && row.task_id === '' && isLast(row) ?",
	},
	{
		promise: 'a task that had failed before a poller died is named beside the one in its place',
		file: 'nodes/durable/handedOver.ts',
		find: '(known?.taskId !== undefined && known.taskId !== task.taskId)',
		becomes: '(false as boolean)',
	},
	{
		promise: 'what a supervisor ends names a task that had failed, and was replaced before a death',
		file: 'nodes/durable/handedOver.ts',
		find: 'rememberSaved(order, ledger);',
		becomes: 'delete order.task;',
	},
	{
		promise: 'what the run has left that was handed over is not bought again because the form names it already',
		file: 'nodes/durable/handedOver.ts',
		find: 'runIndex, handedOverBy: by }',
		becomes: 'runIndex }',
	},
	{
		promise:
			'where the clock is wrong by hours, the outcome of a request is waited for as long as it may come, and no longer',
		file: 'core/journal/replay.ts',
		find: ' && nowMs - seenAtMs < MAY_BE_UNDER_WAY_MS',
		becomes: '',
	},
];
