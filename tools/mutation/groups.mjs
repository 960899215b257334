/**
 * What is mutated, and the tests that are meant to notice. A file is run with these tests only, so that a mutant counts
 * as killed by those who look after it, and not by a test of something else that happens to fall over.
 *
 * @typedef {object} Group
 * @property {string[]} files
 * @property {string[]} tests names in test/, without `.test.ts`
 * @property {boolean} [isPurchase] part of the purchase path: no survivor but those named in `equivalent.mjs`
 */

/** @type {Group[]} */
export const groups = [
	{ files: ['core/tasks/ledger.ts'], tests: ['core/ledger'], isPurchase: true },
	{ files: ['core/tasks/intents.ts'], tests: ['core/intentRecord'], isPurchase: true },
	{ files: ['core/http/retry.ts'], tests: ['core/retry'], isPurchase: true },
	{ files: ['core/tasks/submissionGate.ts'], tests: ['core/submissionGate'], isPurchase: true },
	{ files: ['core/orders/submit.ts'], tests: ['core/submit'], isPurchase: true },
	{ files: ['core/orders/states.ts', 'core/orders/order.ts'], tests: ['core/orders'], isPurchase: true },
	{
		files: ['nodes/run/purchaseRecord.ts', 'nodes/run/ledgerScope.ts'],
		tests: ['nodes/purchaseRecord'],
		isPurchase: true,
	},
	{ files: ['core/tasks/runTasks.ts'], tests: ['core/runTasks', 'core/deliveries'] },
	{ files: ['core/tasks/waitForTask.ts'], tests: ['core/waitForTask', 'core/waiting'] },
	{ files: ['core/tasks/generationTask.ts'], tests: ['core/generationTask'] },
	{ files: ['core/orders/advance.ts', 'core/orders/engine.ts'], tests: ['core/advance'], isPurchase: true },
	{ files: ['core/orders/sleepCoordinator.ts'], tests: ['core/sleepCoordinator', 'core/clockIsSet'] },
	{ files: ['core/http/requestLimiter.ts'], tests: ['core/requestLimiter'] },
	{ files: ['core/http/requests.ts'], tests: ['core/requests', 'core/mistakes'] },
	{ files: ['core/http/connectionErrors.ts', 'core/http/serviceErrors.ts'], tests: ['core/serviceErrors'] },
	{ files: ['core/client.ts'], tests: ['core/endpoints'] },
	{ files: ['core/records/taskRecord.ts', 'core/records/ids.ts'], tests: ['core/taskRecord'] },
	{ files: ['core/polling/lifeTable.ts', 'core/polling/lifeTables.ts'], tests: ['core/lifeTable'] },
	{ files: ['core/polling/planner.ts', 'core/polling/pollSchedule.ts'], tests: ['core/planner'] },
	{ files: ['core/polling/progress.ts'], tests: ['core/progress'] },
];
