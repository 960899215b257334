import { unplayed } from './unplayed.mjs';

/**
 * Deliberate breakages: each breaks one promise, and the simulation must find it (`npm run test:simulation -- breakages`).
 * `find` is in the file once. `unfound`: the reason why the simulation cannot find it; then a test in `noticedBy` must fail.
 *
 * @typedef {{ promise: string, file: string, find: string, becomes: string, unfound?: string, noticedBy?: string, title?: string }} Breakage
 */

/** @type {Breakage[]} */
const played = [
	// A creating request is sent again only if the service surely did not accept it.
	{
		promise: 'a page of a proxy that asks to come back says nothing about the request that it has passed on',
		file: 'core/http/retry.ts',
		find: "(headers['retry-after'] !== undefined && !isPage(response))",
		becomes: "headers['retry-after'] !== undefined",
	},
	{
		promise: 'a request that was cut off is not sent again',
		file: 'core/http/retry.ts',
		find: "return NOT_SECURED.test(code) ? 'refused' : 'unknown';",
		becomes: "return NOT_SECURED.test(code) ? 'refused' : 'tryAgain';",
	},
	{
		promise: 'a request with a 500, 502 or 504 for an answer is not sent again',
		file: 'core/http/retry.ts',
		find: 'if (status === 303 || status === 408 || status >= 500 || status < 200)',
		becomes: "if (status >= 500) return 'tryAgain';\n	if (status === 303 || status === 408 || status < 200)",
	},
	{
		promise: 'a 408 leaves the outcome open',
		file: 'core/http/retry.ts',
		find: 'status === 408 ||',
		becomes: '',
	},
	{
		promise: 'a 503 of a proxy leaves the outcome open',
		file: 'core/http/retry.ts',
		find: "refusesOutright(body) || (headers['retry-after'] !== undefined && !isPage(response))",
		becomes: 'true',
	},
	{
		promise: 'JSON of a proxy leaves the outcome open',
		file: 'core/http/retry.ts',
		find: 'refusesOutright(body) ||',
		becomes: 'body !== undefined ||',
		unfound: 'The service of the simulation stands behind no proxy that writes JSON.',
		noticedBy: 'test/core/retry.test.ts',
		title: 'the outcome of a creating request is',
	},
	{
		promise: 'a run that ends with an error that stays buys nothing more',
		file: 'nodes/durable/liveOrders.ts',
		find: '!(stopsAtError && this.orders.some(staysFailed))',
		becomes: 'true',
		unfound:
			'The simulation does not ask what a run that ends with an error has bought, as long as that was bought once.',
		noticedBy: 'test/nodes/aroundIt.test.ts',
		title: 'Retry On Fail buys nothing more where an error stays',
	},
	{
		promise: 'a request that never reached the service is sent again',
		file: 'core/http/retry.ts',
		find: "if (NEVER_CONNECTED.has(code)) return 'tryAgain';",
		becomes: '',
	},
	{
		promise: 'an answer without an ID leaves the outcome open',
		file: 'core/http/creationAnswer.ts',
		find: 'throw unknownOutcome(thing, `The service answered the request without ${wanted}`, said);',
		becomes: 'throw refusalError(response);',
	},
	{
		promise: 'an answer that was cut off leaves the outcome open',
		file: 'core/http/creationAnswer.ts',
		find: 'if (response.cutOff !== undefined) throw unknownOutcome(thing, howItWasCutOff(response.cutOff), said);',
		becomes: 'if (response.cutOff !== undefined) throw refusalError(response);',
		unfound: 'The answers of the simulation are whole, or end with the connection.',
		noticedBy: 'test/nodes/hostile.test.ts',
		title: 'of a creating request whose answer is',
	},
	{
		promise: 'the pause that the service asks for is kept',
		file: 'core/http/requests.ts',
		find: 'if (isRefused && !givesWay) limiter.holdBack(waitMs);',
		becomes: '',
	},
	{
		promise: 'nothing leaves after a stop',
		file: 'core/http/requests.ts',
		find: 'if (signal?.aborted) throw stoppedError();\n			const answer',
		becomes: 'const answer',
	},
	// What was bought is remembered.
	{
		promise: 'an accepted task is in the ledger',
		file: 'core/orders/submit.ts',
		find: 'ledger.accepted(order.item, { taskId: answer.id, hash, acceptedAtMs, uploads, attempt });',
		becomes: '',
	},
	{
		promise: 'an unknown outcome is in the ledger',
		file: 'core/orders/submit.ts',
		find: 'ledger.outcomeUnknown(order.item, hash, sentAtMs, error.details.serviceMessage);',
		becomes: '',
	},
	{
		promise: 'an unknown outcome is not submitted again',
		file: 'core/orders/submit.ts',
		find: "doubt !== undefined && retryOf({ as: 'outcomeUnknown' }, request) === 'refuses'",
		becomes: 'doubt !== undefined && false',
	},
	{
		promise: 'an accepted task is in the log',
		file: 'core/orders/submit.ts',
		find: 'events.accepted(order);',
		becomes: '',
	},
	{
		promise: 'the rounds of a loop are purchases of their own',
		file: 'core/orders/ledger.ts',
		find: 'return `${this.scope.runIndex}.${what}`;',
		becomes: 'return `0.${what}`;',
	},
	{
		promise: 'within an execution the place alone decides, because a prompt with the time changes',
		file: 'core/orders/ledger.ts',
		find: 'if (entry.executionId !== executionId && entry.hash !== hash && !entry.lost) return undefined;',
		becomes: 'if (entry.hash !== hash) return undefined;',
	},
	{
		promise: 'a task that has failed is forgotten, so that a try can create another one',
		file: 'core/orders/advance.ts',
		find: 'ledger.forget(order.item);',
		becomes: '{}',
	},
	{
		promise: 'a run that has ended well leaves nothing in the ledger',
		file: 'nodes/run/runOperation.ts',
		find: 'if (worked.every(({ error }) => error === undefined)) run.ledger.clearRun();',
		becomes: '',
	},
	{
		promise: 'the run that n8n makes up after a crash does not count',
		file: 'nodes/run/ledgerScope.ts',
		find: 'runIndex > 0 && isFirstRunMadeUp(context) ? runIndex - 1 : runIndex;',
		becomes: 'runIndex > 0 && isFirstRunMadeUp(context) ? runIndex : runIndex;',
	},
	// Written ahead for a retry after a crash.
	{
		promise: 'the name of a try is written before its first request',
		file: 'core/orders/writeAheadLog.ts',
		find: 'await this.declare(order);\n			const answer',
		becomes: 'const answer',
	},
	{
		promise: 'a retry that meets the name of a crashed try submits nothing',
		file: 'core/orders/writeAheadLog.ts',
		find: "await this.remove(free);\n			return 'unknown';",
		becomes: "await this.remove(free);\n			return 'submit';",
	},
	{
		promise: 'an execution that another worker takes over meets its own name',
		file: 'core/orders/writeAheadLog.ts',
		find: "if (found.includes(this.name)) return 'unknown';",
		becomes: '',
	},
	{
		promise: 'a name that cannot be read stops a retry',
		file: 'core/orders/writeAheadLog.ts',
		find: "return this.scope.isRetry ? 'unreadable' : 'submit';",
		becomes: "return 'submit';",
		unfound: 'The judge takes an execution whose name cannot be read for unguarded.',
		noticedBy: 'test/core/writeAheadLog.test.ts',
		title: 'a retry that cannot read the names submits nothing, and says so',
	},
	{
		promise: 'two executions that begin at once have slots of their own',
		file: 'core/orders/writeAheadLog.ts',
		find: 'Array.from({ length: 16 }',
		becomes: 'Array.from({ length: 1 }',
		unfound: 'It takes two executions of the same millisecond, a crash and a retry of the second.',
		noticedBy: 'test/core/writeAheadLog.test.ts',
		title: 'executions of one name take a slot each',
	},
	{
		promise: 'the name stays until the ledger is saved',
		file: 'core/orders/writeAheadLog.ts',
		find: 'if (!this.hasBought && (await this.remove(this.written))) return;',
		becomes: 'if (await this.remove(this.written)) return;',
	},
	{
		promise: 'an orderly end of a try is counted, so that the next one may submit',
		file: 'core/orders/writeAheadLog.ts',
		find: 'this.ledger.countTry();',
		becomes: '',
	},
	{
		promise: 'a failed write of the name is tried once more',
		file: 'nodes/run/writeAheadStore.ts',
		find: 'return await access().catch(access);',
		becomes: 'return await access();',
	},
	// The purchase log, and one purchase for each key.
	{
		promise: 'what another execution has bought under a key is not bought again',
		file: 'core/purchases/keyWatch.ts',
		find: "meaningOf(row) !== 'free' && young.has(row.attempt)",
		becomes: "meaningOf(row) === 'unknown' && young.has(row.attempt)",
	},
	{
		promise: 'of two executions that claim a key at the same moment only one buys',
		file: 'core/purchases/purchaseKey.ts',
		find: 'if (await isAlone(buyer, watch)) return undefined;',
		becomes: 'return undefined;',
	},
	{
		promise: 'IDs reach the purchase log',
		file: 'core/purchases/logPurchases.ts',
		find: "log.note(order, 'accepted', { taskId: answer.id });",
		becomes: '',
	},
	{
		promise: 'a retry after a crash does not buy again what the log has under another request',
		file: 'core/purchases/earlierTries.ts',
		find: 'if (other !== undefined) this.ledger.lost(item, toEntry(other));',
		becomes: '',
	},
	{
		promise: 'of two retries at once only one buys an item',
		file: 'core/purchases/otherRetries.ts',
		find: "if (other !== undefined) throw gatewayError('submittedByOtherRetry'",
		becomes: "if (false as boolean && other) throw gatewayError('submittedByOtherRetry'",
	},
	{
		promise: 'a retry after a crash goes on with what the log has',
		file: 'core/purchases/earlierTries.ts',
		find: 'this.ledger.accepted(order.item, toEntry(row));',
		becomes: 'this.ledger.lost(order.item, { ...toEntry(row), taskId: undefined });',
	},
	{
		promise: 'a retry after a crash finds what has moved to another item',
		file: 'core/purchases/earlierTries.ts',
		find: 'if (order.request?.keyHash !== undefined) return false;',
		becomes: 'if (order.item >= 0) return false;',
	},
	{
		promise: 'a later try of a retry looks from where the first one has looked',
		file: 'core/purchases/purchaseLog.ts',
		find: 'this.lastSeenRow = ledger.firstSeenRow(this.lastSeenRow);',
		becomes: '',
		unfound:
			'It takes a later try that cannot read the log, and that one looks for all rows of other retries (beginOrLeaveGap).',
		noticedBy: 'test/core/purchaseLog.test.ts',
		title: 'a later try of a retry looks from where the first one has looked',
	},
	{
		promise: 'rows of the log are written again when the database did not take them',
		file: 'nodes/purchaseLog/purchaseTable.ts',
		find: 'const PAUSES_MS = [500, 2000];',
		becomes: 'const PAUSES_MS: number[] = [];',
		unfound: 'The judge wants IDs in a log that always answers.',
		noticedBy: 'test/nodes/purchaseTable.test.ts',
	},
	// One end badly, the others.
	{
		promise: 'after a 401 or 402 nothing more is submitted',
		file: 'core/orders/submissionGate.ts',
		find: 'if (!this.closedBy.has(scope)) this.closedBy.set(scope, because);',
		becomes: '',
	},
	{
		promise: 'a request that waits to be repeated is held back with the others',
		file: 'core/orders/submissionGate.ts',
		find: 'for (const [name, controller] of this.controllers) if (scope === undefined || scope === name) controller.abort();',
		becomes: '',
	},
	// Waves of executions that n8n saves.
	{
		promise: 'the name of a wave is written before its first request',
		file: 'core/orders/waveLog.ts',
		find: 'await naming;',
		becomes: '',
	},
	{
		promise: 'n8n saves the number of a wave before it is sent',
		file: 'core/orders/waveLog.ts',
		find: 'await this.store.save();',
		becomes: '',
		unfound: 'The search for names of waves that were not saved (countUnsaved) makes up for it.',
		noticedBy: 'test/core/waveLog.test.ts',
		title: 'orders that want to be submitted together are one wave: saved first',
	},
	{
		promise: 'orders of an interrupted wave are not sent again',
		file: 'core/orders/waveLog.ts',
		find: 'if (wasSent === false && atMs === undefined)',
		becomes: 'if (atMs === undefined)',
	},
	{
		promise: 'waves that n8n could not save leave as many orders in doubt',
		file: 'core/orders/waveDoubts.ts',
		find: 'if (request !== undefined) request.maybeSent = true;',
		becomes: '{}',
	},
	{
		promise: 'what n8n throws away with a worker leaves as many orders in doubt as its waves had',
		file: 'core/orders/waveNames.ts',
		find: 'if (!batch.isTakenOver) return 0;',
		becomes: 'return 0;',
	},
	{
		promise: 'the waves of a dead execution are found, although the names of its first ones are gone',
		file: 'core/orders/waveNames.ts',
		find: 'for (; await this.isNamed(landmark); landmark += KEPT_WAVES) wave = landmark;',
		becomes: '',
	},
	{
		promise: 'what n8n has thrown away with a worker goes on with the IDs in the purchase log',
		file: 'nodes/durable/liveOrders.ts',
		find: 'await writeAhead.resolveInterrupted(orders, purchases);',
		becomes: 'await writeAhead.resolveInterrupted(orders);',
	},
	{
		promise: 'requests of a lost worker that have rows without IDs are not sent again',
		file: 'core/purchases/sentRequests.ts',
		find: "if (meaningOf(row) === 'unknown' ||",
		becomes: "if (meaningOf(row) === 'unknown') return undefined;\n		if (",
	},
	{
		promise: 'requests of a lost worker whose rows could not be written are not sent again',
		file: 'core/purchases/purchaseLog.ts',
		find: 'areAll: areAll && !mayLackRows',
		becomes: 'areAll',
		unfound:
			'It takes a row that could not be written in the last wave of a worker that is lost, and rows of the waves before.',
		noticedBy: 'test/core/lostWorker.test.ts',
		title: 'whichever rows n8n cannot write: nothing is bought twice',
	},
	{
		promise: 'a retry after a crash does not submit what another execution goes on with',
		file: 'core/orders/ledger.ts',
		find: 'this.deferred(item, request.hash, nowMs);',
		becomes: '{}',
	},
	{
		promise: 'n8n saves a request as it was with its order',
		file: 'nodes/durable/orderItems.ts',
		find: '...(request && { request: { ...request } }),',
		becomes: '',
	},
	{
		promise: 'n8n saves the number of waves as it was with the orders',
		file: 'nodes/durable/orderItems.ts',
		find: '...(batch && { batch: share(batch) }),',
		becomes: '',
		unfound: 'As for a request, above.',
		noticedBy: 'test/nodes/orderItems.test.ts',
		title: 'a row still says what was true when it was made',
	},
	{
		promise: 'the orders of a dead execution are taken up as it had saved them',
		file: 'nodes/durable/takeOver.ts',
		find: 'salvageOrderItems(saved) ??',
		becomes: '',
	},
	{
		promise: 'a retry by a person of an execution that waits submits nothing',
		file: 'nodes/durable/steps.ts',
		find: 'isRetry ? retried(known, context.getExecutionId()) : known',
		becomes: 'known',
	},
	{
		promise: 'a retry by a person of an execution that polls sends nothing',
		file: 'nodes/durable/steps.ts',
		find: "if (context.getMode() === 'retry') return cancel(context, memory, read().map(takenOver));",
		becomes: '',
	},
	{
		promise: 'results are handed on only when those who wait for them sleep',
		file: 'nodes/durable/steps.ts',
		find: 'if (memory.hasSlept !== true) await parents.untilAsleep();',
		becomes: '',
		unfound: 'The sweep of n8n, a minute later, makes up for it.',
		noticedBy: 'test/nodes/aroundIt.test.ts',
		title: 'is handed on when they sleep',
	},
	{
		promise: 'an execution that polls and that is stopped before it has slept is not taken over',
		file: 'nodes/durable/steps.ts',
		find: 'if (rounds > 0) {',
		becomes: 'if (rounds > 1_000) {',
	},
	{
		promise: 'an execution that polls and that nobody waits for any more is no success',
		file: 'nodes/durable/steps.ts',
		find: 'return items.map(asCanceled);',
		becomes: 'return items;',
	},
	{
		promise: 'whoever waits goes on with the orders of an execution that nobody waits for any more',
		file: 'nodes/durable/steps.ts',
		find: 'Object.assign(memory, { isCanceled: true, rows: toOrderItems(orders) });',
		becomes: 'Object.assign(memory, { isCanceled: true });',
		unfound: 'The ends that it has put out say what is known of each order, too.',
		noticedBy: 'test/nodes/aroundIt.test.ts',
		title: 'puts out the ends, and then ends as canceled',
	},
	// Nothing is kept for ever.
	{
		promise: 'a request that was refused gives its slot back',
		file: 'core/orders/createInSlot.ts',
		find: 'tries.failed?.(error);\n			slot.free();',
		becomes: 'tries.failed?.(error);',
	},
	{
		promise: 'a wait that has ended gives the slot of its task back',
		file: 'core/account/accountSlots.ts',
		find: 'if (running.waits.length === 0) running.untilMs = this.clock.now() + goesOnForMs;',
		becomes: '',
	},
	{
		promise: 'an order that is ready and gives up makes room for the next one',
		file: 'core/orders/createInSlot.ts',
		find: '	} finally {\n		notReady();\n	}\n}',
		becomes: '	} finally {\n	}\n}',
	},
	{
		promise: 'a Purchase Key is free for the next order when its request has ended',
		file: 'core/purchases/purchaseKey.ts',
		find: '		keysUnderWay.delete(key);\n		settle(settled);',
		becomes: '		settle(settled);',
	},
	{
		promise: 'an attempt that gives way to another one takes back its claim of the key',
		file: 'core/purchases/purchaseKey.ts',
		find: "	log.note(order, 'not_accepted');\n	delete order.purchase;\n	return false;",
		becomes: '	delete order.purchase;\n	return false;',
	},
	// Nothing unfinished passes for finished, every wait ends.
	{
		promise: 'a wait ends with its timeout',
		file: 'core/polling/waitForTask.ts',
		find: 'if (clock.now() >= deadlineMs) return this.timeOut(timedOut(this.target, this.options.timeoutMs, this.trouble));',
		becomes: '',
	},
	{
		promise: 'a stop ends a wait',
		file: 'core/polling/waitForTask.ts',
		find: 'if (signal?.aborted) throw stoppedError(this.target.task);',
		becomes: '',
	},
	{
		promise: 'a task that is still running is no result',
		file: 'core/polling/waitForTask.ts',
		find: "if (state === 'done') return true;",
		becomes: "if (state === 'done' || state === 'pending') return true;",
	},
	{
		promise: 'each output item is paired with its input item',
		file: 'nodes/run/toItem.ts',
		find: 'errorContext), pairedItem: { item } };',
		becomes: 'errorContext), pairedItem: { item: 0 } };',
	},
	{
		promise: 'error items name the task',
		file: 'nodes/run/toItem.ts',
		find: "[(describes && ID_FIELDS[describes]) ?? 'task_id']: task?.taskId,",
		becomes: '',
	},
	{
		promise: 'Concurrent Tasks holds when an execution falls asleep',
		file: 'core/orders/engine.ts',
		find: 'if (sleep?.signal.aborted) return endIfHeldBack(order, controls);',
		becomes: '',
		unfound:
			'Tasks wait for a slot of the account, too, and none gets one when the execution falls asleep (createInSlot.ts).',
		noticedBy: 'test/core/advance.test.ts',
		title: 'orders that have no place yet are not submitted when the others fall asleep',
	},
	{
		promise: 'retried orders do not raise the number of tasks at once',
		file: 'core/orders/jobs.ts',
		find: 'if (workers > concurrency) break;',
		becomes: '',
	},
	{
		promise: 'an order that is tried again has left its wave',
		file: 'core/orders/states.ts',
		find: 'after a sleep.\n\tdelete request?.wave;',
		becomes: 'after a sleep.',
	},
];

/** @type {Breakage[]} */
export const breakages = [...played, ...unplayed];
