/**
 * The files to mutate, and the tests that should notice. A file is run with these tests only, so that a mutant counts
 * as killed by the tests of its file, and not by one of something else that happens to fail.
 *
 * @typedef {object} Group
 * @property {string[]} files
 * @property {string[]} tests names in test/, without `.test.ts`
 * @property {boolean} [isPurchase] part of the purchase path: no survivor but those named in `equivalent.mjs`
 */

/** @type {Group[]} */
export const groups = [
	{ files: ['core/orders/ledger.ts'], tests: ['core/ledger'], isPurchase: true },
	{ files: ['core/orders/writeAheadLog.ts'], tests: ['core/writeAheadStore'], isPurchase: true },
	{ files: ['core/http/retry.ts'], tests: ['core/retry'], isPurchase: true },
	{ files: ['core/orders/waveLog.ts'], tests: ['core/waveLog'], isPurchase: true },
	{ files: ['core/orders/firstWave.ts'], tests: ['core/firstWave'], isPurchase: true },
	{ files: ['core/orders/submissionGate.ts'], tests: ['core/submissionGate'], isPurchase: true },
	{ files: ['core/orders/submit.ts'], tests: ['core/submit'], isPurchase: true },
	{ files: ['core/orders/states.ts', 'core/orders/order.ts'], tests: ['core/orders'], isPurchase: true },
	{
		files: ['nodes/run/writeAheadStore.ts', 'nodes/run/ledgerScope.ts'],
		tests: ['nodes/purchaseRecord'],
		isPurchase: true,
	},
	{ files: ['core/orders/jobs.ts'], tests: ['core/jobs', 'core/deliveries'] },
	{ files: ['core/polling/waitForTask.ts'], tests: ['core/waitForTask', 'core/waiting'] },
	{ files: ['core/polling/generationTask.ts'], tests: ['core/generationTask'] },
	{ files: ['core/orders/advance.ts', 'core/orders/engine.ts'], tests: ['core/advance'], isPurchase: true },
	{ files: ['core/orders/sleepCoordinator.ts'], tests: ['core/sleepCoordinator', 'core/clockIsSet'] },
	{ files: ['core/http/requestLimiter.ts'], tests: ['core/requestLimiter'] },
	{ files: ['core/http/requests.ts'], tests: ['core/requests', 'core/mistakes'] },
	{ files: ['core/http/connectionErrors.ts', 'core/http/serviceErrors.ts'], tests: ['core/serviceErrors'] },
	{ files: ['core/client.ts'], tests: ['core/endpoints'] },
	{ files: ['core/records/taskRecord.ts', 'core/records/ids.ts'], tests: ['core/taskRecord'] },
	{ files: ['core/polling/survivalTable.ts', 'core/polling/survivalTables.ts'], tests: ['core/survivalTable'] },
	{ files: ['core/polling/planner.ts', 'core/polling/pollSchedule.ts'], tests: ['core/planner'] },
	{ files: ['core/polling/progress.ts'], tests: ['core/progress'] },
];
