/**
 * The files to mutate, and the tests that should notice. A file is run with these tests only, so that a mutant counts
 * as killed by the tests of its file, and not by one of something else that happens to fail.
 *
 * @typedef {object} Group
 * @property {string[]} files a folder, with its "/", means all files in it that are named nowhere else
 * @property {string[]} tests names in test/, without `.test.ts`: the fastest first
 * @property {boolean} [isStrict] it buys, waits, stores or delivers: no survivor but those named in `equivalent.mjs`
 *
 * @typedef {Omit<Group, 'files'> & { file: string }} Target
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { projectDir } from '../paths.mjs';

/**
 * @param {string} folder
 * @param {string} names
 */
const inFolder = (folder, names) => names.split(' ').map((name) => `${folder}/${name}.ts`);
const asleep = ['simulation/firstCases', 'nodes/damagedOrderItems', 'nodes/surviveRestarts', 'nodes/background'];

/** @type {Group[]} */
const purchases = [
	{
		files: ['core/orders/submit.ts'],
		tests: ['core/submit', 'core/advance', 'core/waveLog'],
	},
	{
		files: ['core/orders/states.ts', 'core/orders/order.ts', 'core/orders/'],
		tests: ['core/orderStates', 'core/orderBounds', 'core/orders'],
	},
	{ files: ['core/orders/ledger.ts'], tests: ['core/ledger', 'core/submit'] },
	{ files: ['core/orders/writeAheadLog.ts'], tests: ['core/writeAheadLog', 'core/submit', 'core/writeAheadCrashes'] },
	{ files: ['core/http/retry.ts'], tests: ['core/retry'] },
	{ files: ['core/orders/submissionGate.ts'], tests: ['core/submissionGate'] },
	{
		files: ['core/orders/advance.ts', 'core/orders/engine.ts'],
		tests: ['core/advance', 'core/submit'],
	},
	{
		files: inFolder('core/orders', 'waveLog waveNames waveDoubts'),
		tests: ['core/waveLog', 'core/advance', 'core/lostWorker'],
	},
	{ files: ['core/orders/outlasting.ts'], tests: ['core/outlasting'] },
	{ files: ['core/orders/firstWave.ts'], tests: ['core/firstWave', 'core/advance'] },
	{
		files: ['core/account/accountSlots.ts', 'core/account/runSlots.ts', 'core/account/'],
		tests: ['core/accountSlots', 'core/purchaseSlots'],
	},
	{ files: inFolder('core/account', 'learnedLimit readiness'), tests: ['core/accountSlotParts'] },
	{
		files: ['core/orders/createInSlot.ts'],
		tests: ['core/accountSlots', 'core/purchaseSlots', 'core/advance'],
	},
	{ files: ['core/orders/jobs.ts'], tests: ['core/jobs', 'core/deliveries'] },
	{
		files: [
			...inFolder('nodes/Avatar/operations', 'createGroup createVerification getAsset getVerification'),
			...inFolder('nodes/Avatar/operations', 'getVerificationResult uploadAsset waitForAsset'),
			...['nodes/Avatar/fields.ts', 'nodes/Avatar/uploadForm.ts'],
			...[
				'nodes/Token/operations/create.ts',
				'nodes/Token/fields.ts',
				'nodes/ImageGeneration/operations/uploadImage.ts',
			],
			...inFolder('nodes/Balance/operations', 'getTokenBalance getUserBalance'),
		],
		tests: ['nodes/operations'],
	},
	{ files: ['core/orders/sleepCoordinator.ts'], tests: ['core/sleepCoordinator', 'core/clockIsSet', 'core/advance'] },
	{
		files: [...inFolder('core/http', 'requests creationAnswer'), 'core/http/'],
		tests: ['core/requests', 'core/mistakes', 'core/client', 'core/answers'],
	},
	{ files: inFolder('core/http', 'requestLimiter requestWindow'), tests: ['core/requestLimiter'] },
	{
		files: inFolder('core/polling', 'waitForTask gracePeriod timeouts'),
		tests: ['core/waitForTask', 'core/waitWatcher', 'core/waiting'],
	},
	{ files: ['core/polling/startTimes.ts'], tests: ['core/startTimes'] },
	{ files: ['core/orders/generationTasks.ts'], tests: ['core/generationTasks'] },
	{ files: ['core/purchases/earlierTries.ts'], tests: ['core/earlierTries', 'core/purchaseKey'] },
	{ files: ['core/purchases/sentRequests.ts'], tests: ['core/sentRequests'] },
	{ files: ['core/purchases/attempts.ts'], tests: ['core/sentRequests', 'core/purchaseLog'] },
	{ files: ['core/purchases/keyWatch.ts'], tests: ['core/keyWatch'] },
	{
		files: ['core/purchases/purchaseKey.ts'],
		tests: ['core/purchaseKey', 'core/purchaseKeyTurns', 'core/purchaseKeyRows'],
	},
	{ files: ['core/purchases/purchaseRow.ts'], tests: ['core/purchaseRow', 'core/earlierTries'] },
	{ files: ['core/purchases/purchaseLog.ts'], tests: ['core/purchaseLog'] },
	{ files: ['core/purchases/otherRetries.ts'], tests: ['core/purchaseLog', 'core/earlierTries'] },
	{ files: ['core/purchases/'], tests: ['core/purchaseLog', 'core/purchaseKey'] },
	{ files: inFolder('nodes/run', 'writeAheadStore ledgerScope'), tests: ['nodes/writeAheadStore'] },
	{ files: inFolder('nodes/run', 'fileHashes hashOf toItem retryOnFail'), tests: ['nodes/runParts'] },
	{ files: ['nodes/run/openPurchaseLog.ts'], tests: ['nodes/openPurchaseLog'] },
	{
		files: ['nodes/run/runItems.ts'],
		tests: ['nodes/runItems'],
	},
	{
		files: ['nodes/run/runOperation.ts'],
		tests: ['nodes/runOperation'],
	},
	{
		files: inFolder('nodes/durable', 'storedNames supportsDurableWait waveNameStore toNodeOutput subWorkflow'),
		tests: ['nodes/durableParts'],
	},
	{ files: ['nodes/durable/parentExecutions.ts'], tests: ['nodes/parentExecutions'] },
	{ files: ['nodes/durable/obstacle.ts', 'nodes/run/engine2.ts'], tests: ['nodes/obstacle'] },
	{ files: ['nodes/durable/answerAwaited.ts'], tests: ['nodes/awaited'] },
	{ files: ['nodes/durable/outputResults.ts'], tests: ['nodes/outputResultsParts'] },
	{ files: ['nodes/durable/wakeUp.ts'], tests: ['nodes/wakeUp'] },
	{ files: ['nodes/durable/advanceOrders.ts'], tests: ['nodes/advanceOrders'] },
	{ files: ['nodes/durable/liveOrders.ts'], tests: ['nodes/liveOrdersParts'] },
	{ files: inFolder('nodes/durable', 'steps canceledError'), tests: ['nodes/steps'] },
	{ files: ['nodes/durable/background.ts'], tests: ['nodes/backgroundParts'] },
	{ files: ['nodes/durable/takeOver.ts'], tests: ['nodes/takeOverParts'] },
	{ files: ['nodes/generation/arrival.ts'], tests: ['nodes/arrival'] },
	{ files: ['nodes/durable/orderItems.ts'], tests: ['nodes/orderItems'] },
	{ files: ['nodes/durable/startDurableWait.ts'], tests: ['nodes/startDurableWait', 'nodes/waitInMemory'] },
	{ files: ['nodes/durable/'], tests: asleep },
	{ files: inFolder('nodes/purchaseLog', 'table dataTableNode'), tests: ['nodes/dataTable'] },
	{ files: ['nodes/purchaseLog/purchaseTable.ts'], tests: ['nodes/purchaseTable', 'nodes/purchaseTableReads'] },
	{ files: ['nodes/purchaseLog/cleanUp.ts'], tests: ['nodes/cleanUp'] },
	{ files: ['nodes/connection/transport.ts'], tests: ['nodes/send', 'nodes/transport'] },
	{ files: ['nodes/connection/resultFile.ts'], tests: ['nodes/resultFile'] },
	{
		files: inFolder('nodes/generation', 'downloadLinks slowDeliveries storageLimit taskOutput fileNames'),
		tests: ['nodes/deliveryParts'],
	},
	{
		files: ['nodes/generation/downloads.ts'],
		tests: ['nodes/downloadParts'],
	},
	{
		files: ['nodes/generation/taskProduct.ts'],
		tests: ['nodes/taskProduct'],
	},
	{ files: inFolder('nodes/Token', 'tokenOutput tokenProduct'), tests: ['nodes/tokenParts'] },
	{
		files: [...inFolder('nodes/Avatar', 'assetOutput record verificationOutput'), 'nodes/Avatar/products/'],
		tests: ['nodes/avatarParts'],
	},
];

/** @type {Group[]} */
const others = [
	{
		files: inFolder('core/http', 'connectionErrors serviceErrors types'),
		tests: ['core/serviceErrors', 'core/requests'],
	},
	{
		files: ['core/http/readAnswer.ts'],
		tests: ['core/readAnswer'],
	},
	{ files: ['core/client.ts'], tests: ['core/endpoints'] },
	{ files: ['core/records/taskRecord.ts', 'core/records/ids.ts'], tests: ['core/taskRecord'] },
	{ files: ['core/records/prices.ts'], tests: ['core/prices'] },
	{ files: ['core/records/accountRecords.ts'], tests: ['core/accountRecords'] },
	{ files: ['core/records/'], tests: ['core/results', 'core/answers'] },
	{
		files: ['core/records/loose.ts'],
		tests: ['core/loose', 'core/times', 'core/results'],
	},
	{ files: ['core/records/refusals.ts'], tests: ['core/refusals'] },
	{ files: inFolder('core/polling', 'survivalTable survivalTables'), tests: ['core/survivalTable'] },
	{ files: ['core/polling/'], tests: ['core/planner'] },
	{ files: ['core/polling/progress.ts'], tests: ['core/progress'] },
	{ files: ['core/polling/timeLeft.ts'], tests: ['core/timeLeftCases'] },
	{ files: inFolder('core/account', 'accounts'), tests: ['core/accounts'] },
	{ files: ['core/account/sharedReads.ts'], tests: ['core/sharedReads'] },
	{ files: inFolder('core/account', 'balance balanceWatch runCredits'), tests: ['core/balances'] },
	{ files: ['nodes/run/runCredits.ts'], tests: ['nodes/runCreditsParts'] },
	{ files: ['core/avatars/'], tests: ['core/avatars', 'core/times'] },
	{ files: inFolder('core/avatars', 'client pollTargets'), tests: ['core/avatarClient'] },
	{ files: ['core/'], tests: ['core/abort'] },
	{ files: ['core/addresses.ts'], tests: ['core/addresses'] },
	{ files: ['core/urls.ts'], tests: ['core/text'] },
	{ files: ['core/json.ts'], tests: ['core/json'] },
	{ files: ['core/longIntegers.ts'], tests: ['core/longIntegers'] },
	{ files: ['core/settings.ts'], tests: ['nodes/settings'] },
	{ files: ['core/text.ts'], tests: ['core/text'] },
	{ files: ['core/processMemory.ts'], tests: ['core/accounts'] },
	{ files: ['core/errors/'], tests: ['core/errors', 'core/describe', 'core/catalogue'] },
	{ files: ['core/errors/recovery.ts'], tests: ['core/recovery'] },
	{
		files: ['core/errors/reasons/account.ts'],
		tests: ['core/reasons', 'core/reasonFacts', 'core/reasonTexts', 'core/stopIfBelow'],
	},
	{ files: ['core/errors/reasons/'], tests: ['core/reasons', 'core/reasonFacts', 'core/reasonTexts'] },
	{ files: ['core/models/imageType.ts'], tests: ['core/imageType'] },
	{
		files: inFolder('core/models', 'checkBody describe rules imagesElsewhere'),
		tests: ['core/checkBody', 'core/modelRules'],
	},
	{
		files: inFolder('core/models', 'images toBody spec'),
		tests: ['core/toBody', 'core/modelForms', 'core/checkBody', 'core/modelRules'],
	},
	{ files: ['core/models/'], tests: ['core/modelForms'] },
	{ files: inFolder('nodes/connection', 'settings'), tests: ['nodes/settings', 'core/answers'] },
	{ files: ['nodes/connection/'], tests: ['nodes/clients'] },
	{ files: inFolder('nodes/errors', 'failure plain'), tests: ['nodes/fields'] },
	{ files: ['nodes/errors/'], tests: ['nodes/nodeErrors'] },
	{ files: ['nodes/errors/unreadable.ts'], tests: ['nodes/nodeErrors', 'nodes/binaryImage', 'nodes/liveOrdersParts'] },
	{ files: ['nodes/form/'], tests: ['nodes/fields'] },
	{ files: ['nodes/generation/planRequest.ts'], tests: ['nodes/planRequest'] },
	{ files: ['nodes/generation/binaryImage.ts'], tests: ['nodes/binaryImage'] },
	{
		files: ['nodes/generation/'],
		tests: ['nodes/generationOrders'],
	},
	{ files: ['nodes/run/progress.ts'], tests: ['nodes/progressLines'] },
	{ files: ['nodes/run/tracing.ts'], tests: ['nodes/tracing'] },
	{ files: inFolder('nodes/run', 'agentTools output verificationMemory'), tests: ['nodes/runParts'] },
	{ files: inFolder('nodes/run', 'hints batchSummary taskLog'), tests: ['nodes/summaries'] },
	{ files: ['nodes/run/run.ts'], tests: ['nodes/runPorts', 'nodes/runParts'] },
	{ files: ['nodes/run/readBody.ts'], tests: ['nodes/readBody'] },
	{ files: ['nodes/run/item.ts'], tests: ['nodes/item'] },
	{ files: ['nodes/run/waitOptions.ts'], tests: ['nodes/waitOptions'] },
	{
		files: ['nodes/run/'],
		tests: ['nodes/readBody', 'nodes/generate', 'nodes/badInput'],
	},
	{
		files: ['nodes/AvatarVerificationTrigger/handleCallback.ts', 'nodes/BalanceTrigger/checkBalance.ts'],
		tests: ['nodes/triggerParts'],
	},
];

/** Files that decide nothing, with the reason. */
export const undecided = [
	{
		files: [
			/^nodes\/\w+\/(operations\/index|\w+\.node)\.ts$/,
			/^nodes\/(form\/(docsLink|fields|options)|BalanceTrigger\/fields|AvatarVerificationTrigger\/page)\.ts$/,
			/^nodes\/(generation\/(builderHint|generateForm|media)|run\/operation)\.ts$/,
			/^nodes\/models\//,
		],
		why: 'forms and texts: they are checked against values written by hand (test/golden) and by test/guards',
	},
	{
		files: [
			/^core\/(limits|errors\/entry|orders\/product|polling\/(pollTarget|waitWatcher)|account\/spendingRun|purchases\/purchaseTable)\.ts$/,
			/^nodes\/connection\/fileLimits\.ts$/,
		],
		why: 'types and numbers',
	},
];

/** In the order in which they are measured: what costs money if it is wrong comes first. */
const groups = [...purchases.map((group) => ({ ...group, isStrict: true })), ...others];

/** @returns {Target[]} every file that decides, each with the tests of its group, or else of its folder */
export function allTargets() {
	const named = new Set(groups.flatMap(({ files }) => files));
	const isRest = (/** @type {string} */ file) =>
		!named.has(file) && !undecided.some(({ files }) => files.some((kind) => kind.test(file)));
	const inside = (/** @type {string} */ folder) =>
		readdirSync(join(projectDir, folder))
			.filter((name) => name.endsWith('.ts'))
			.map((name) => `${folder}${name}`)
			.filter(isRest);
	return groups.flatMap(({ files, ...group }) =>
		files.flatMap((file) => (file.endsWith('/') ? inside(file) : [file])).map((file) => ({ ...group, file })),
	);
}
