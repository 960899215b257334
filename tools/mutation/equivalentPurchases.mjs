/** Mutants that nobody could notice, in what buys, waits, stores or delivers. */

/** @type {Record<string, import('./equivalent.mjs').Equivalent[]>} by file */
export const inPurchases = {
	'nodes/connection/transport.ts': [
		{
			line: "if (typeof thrown !== 'object' || thrown === null || depth > 4) return [];",
			becomes: '["Stryker was here"]',
			why: 'a text has neither code nor name',
		},
		{
			line: 'const ofAddresses = Array.isArray(error.errors) ? error.errors.slice(0, MOST_ADDRESSES) : [];',
			becomes: '["Stryker was here"]',
			why: 'the same',
		},
	],
	'nodes/Avatar/products/verificationProduct.ts': [
		{
			line: "const given = reference ?? parseCallback(callbackUrl ?? '').reference;",
			becomes: '"Stryker was here!"',
			why: 'there is no reference in it, either',
		},
	],
	'core/orders/writeAheadLog.ts': [
		{
			line: "return this.scope.isRetry ? 'unreadable' : 'submit';",
			becomes: '""',
			why: 'what is neither "submit" nor "unknown" is said to be unreadable',
		},
		{
			line: 'await this.store?.remove(names);',
			becomes: 'this.store.remove',
			why: 'without a record no name is written, so none is removed',
		},
		{ line: '} catch {', becomes: '{}', why: 'undefined is as false as false' },
		{
			line: 'if (request?.submitAgain) return await this.store?.overrule?.();',
			becomes: 'this.store.overrule',
			why: 'without a record the permission is to submit; only the compiler asks',
		},
	],
	'core/orders/states.ts': [
		{ line: 'ended: [],', becomes: '["Stryker was here"]', why: 'no state is called so' },
		{
			line: 'const retry = retryOf(end, { submitAgain: request?.submitAgain ?? false });',
			becomes: 'true',
			why: 'without a request, no retry submits',
		},
		{
			line: 'delete request?.wave;',
			becomes: 'request.wave',
			why: 'the caller has asked; only the compiler asks again',
		},
		{
			line: 'uploads: readonly string[] = order.request?.uploads ?? [],',
			becomes: '["Stryker was here"]',
			why: 'a text that is no URL is not noted',
		},
		{
			line: 'if (order.result !== undefined) order.result.requestUrls = [...urlsOfRequest([order.request?.body, uploads])];',
			becomes: 'order.request.body',
			why: 'an order has its request until it is accepted; only the compiler asks',
		},
	],
	'core/orders/advance.ts': [
		{
			line: "if (task === undefined || (then === 'nothing' && (answer !== undefined || thing !== 'task')))",
			becomes: 'false',
			why: 'an accepted order has its task; only the compiler asks',
		},
	],
	'core/orders/firstWave.ts': [
		{
			line: "await new Promise<void>((resolve) => this.signal.addEventListener('abort', () => resolve(), { once: true }));",
			becomes: '{}',
			why: 'a signal aborts once',
		},
		{
			line: "await new Promise<void>((resolve) => this.signal.addEventListener('abort', () => resolve(), { once: true }));",
			becomes: 'false',
			why: 'the same',
		},
	],
	'core/orders/engine.ts': [
		{
			line: "if ('run' in work || work.state !== 'planned') return { run: async () => await Promise.resolve(undefined) };",
			becomes: '""',
			why: 'a job has no state, and so is not planned',
		},
		{
			line: "if ('run' in work || work.state !== 'planned') return { run: async () => await Promise.resolve(undefined) };",
			becomes: '() => undefined',
			why: 'nobody asks for the result of an upload',
		},
	],
	'core/orders/waveDoubts.ts': [
		{
			line: 'private left: Left = { open: [], others: [] };',
			becomes: '["Stryker was here"]',
			why: 'a text has no request to mark',
		},
		{
			line: 'mark(unsaved: number, known: readonly Order[] = []): void {',
			becomes: '["Stryker was here"]',
			why: 'a text is none of the orders',
		},
		{
			line: 'if (request !== undefined) request.maybeSent = true;',
			becomes: 'true',
			why: 'an order that may be sent has a request; only the compiler asks',
		},
	],
	'core/orders/waveLog.ts': [
		{
			line: "const [{ thing } = { thing: 'task' as const }] = members;",
			becomes: '{}',
			why: 'a wave has members; only the compiler asks',
		},
		{
			line: 'const wave = order.request?.wave;',
			becomes: 'order.request.wave',
			why: 'an order that is open has a request; only the compiler asks',
		},
		{
			line: 'if (order.request !== undefined) order.request.wave = wave;',
			becomes: 'true',
			why: 'an order that is sent has a request; only the compiler asks',
		},
		{
			line: 'this.named.delete(wave - 2);',
			becomes: 'wave + 2',
			why: 'what stays in memory is one settled promise for each wave, which nobody asks for',
		},
	],
	'core/purchases/logPurchases.ts': [
		{
			line: 'if (order.request?.keyHash !== undefined) return await buyOnce(order, log, { ...steps, create });',
			becomes: 'order.request.keyHash',
			why: 'an order that is sent has a request; only the compiler asks',
		},
	],
	'core/purchases/purchaseKey.ts': [
		{
			line: 'const key = `${log.ports.columns.workflow_id} ${order.request?.keyHash}`;',
			becomes: 'order.request.keyHash',
			why: 'an order with a Purchase Key has a request; only the compiler asks',
		},
		{
			line: 'if (settled === undefined || settled.hash !== request?.hash) return undefined;',
			becomes: 'request.hash',
			why: 'the same',
		},
		{
			line: "const about = { hash: order.request?.hash ?? '', executionId: log.ports.executionId, atMs };",
			becomes: 'order.request.hash',
			why: 'the same',
		},
		{
			line: "const about = { hash: order.request?.hash ?? '', executionId: log.ports.executionId, atMs };",
			becomes: '"Stryker was here!"',
			why: 'the same',
		},
		{
			line: "const { hash, keyHash = '', submitAgain } = order.request ?? {};",
			becomes: '"Stryker was here!"',
			why: 'the same',
		},
		{ line: "const { hash = '', keyHash } = order.request ?? {};", becomes: '"Stryker was here!"', why: 'the same' },
		{
			line: 'own.add(String(order.purchase?.attempt));',
			becomes: 'order.purchase.attempt',
			why: 'claiming has given it an attempt; only the compiler asks',
		},
		{
			line: "return reason?.name === 'noFreePlace' || reason?.name === 'purchaseKeyUnclear';",
			becomes: 'reason.name',
			why: 'of all errors, only some of downloads have no reason',
		},
		{
			line: "return reason?.name === 'noFreePlace' || reason?.name === 'purchaseKeyUnclear';",
			becomes: 'reason.name',
			why: 'the same',
		},
		{
			line: "if (others.some(({ is, row }) => is === 'bought' || row.id < ownId)) break;",
			becomes: 'row.id <= ownId',
			why: 'two rows have different numbers',
		},
	],
	'core/purchases/earlierTries.ts': [
		{
			line: 'this.requests.set(row.item, [...(this.requests.get(row.item) ?? []), row]);',
			becomes: '["Stryker was here"]',
			why: 'what is no row has no state, and so no meaning',
		},
		{
			line: 'const same = this.byHash.get(order.request?.hash) ?? new Set<StoredRow>();',
			becomes: 'order.request.hash',
			why: 'an open order has a request; only the compiler asks',
		},
		{
			line: "if (request === undefined || state !== 'planned') return false;",
			becomes: 'false',
			why: 'an order that is planned has a request; only the compiler asks',
		},
		{
			line: 'if (order.request?.keyHash !== undefined) return false;',
			becomes: 'order.request.keyHash',
			why: 'the same',
		},
		{ line: 'return hash === request?.hash;', becomes: 'request.hash', why: 'the same' },
	],
	'core/purchases/otherRetries.ts': [
		{
			line: 'const attempts = new Set(known.filter(isUnderWay).map(({ attempt }) => attempt));',
			becomes: 'known',
			why: 'it only saves the work for attempts that are not under way',
		},
		{
			line: 'return [...lastOfAttempts(known.filter(({ attempt }) => attempts.has(attempt))).values()].filter(isUnderWay);',
			becomes: 'known',
			why: 'the same',
		},
		{
			line: 'return hash === request?.hash && this.hashes.get(item) !== hash;',
			becomes: 'request.hash',
			why: 'an order that is sent has a request; only the compiler asks',
		},
	],
	'core/purchases/sentRequests.ts': [
		{
			line: 'const attempts = orders.flatMap(({ purchase }) => purchase?.attempt ?? []);',
			becomes: '["Stryker was here"]',
			why: 'no attempt of a node is called so',
		},
		{
			line: "if (meaningOf(row) === 'unknown' || row.task_id === '' || row.request_hash !== request?.hash) {",
			becomes: 'request.hash',
			why: 'an order that is open has a request; only the compiler asks',
		},
	],
	'core/purchases/attempts.ts': [
		{
			line: 'const { status, timed_out: timedOut } = end.output?.json ?? {};',
			becomes: 'end.output.json',
			why: 'what has ended well has an output; only the compiler asks',
		},
		{
			line: "if (end?.as !== 'failed' || end.error?.kind !== 'taskFailed') return undefined;",
			becomes: 'end.error.kind',
			why: 'what has failed has an error; only the compiler asks',
		},
		{
			line: "const { hash = '', keyHash } = request ?? {};",
			becomes: '"Stryker was here!"',
			why: 'an order that is bought has a request; only the compiler asks',
		},
	],
	'nodes/durable/subWorkflow.ts': [
		{
			line: 'Object.fromEntries(parts.slice(1).map((next, index) => [parts[index]?.name, { main: [[target(next)]] }]));',
			becomes: 'parts[index].name',
			why: 'each but the first has one before it; only the compiler asks',
		},
	],
	'nodes/generation/slowDeliveries.ts': [
		{
			line: 'if (!ended.signal.aborted) await Promise.race([isOver, untilBeside(isOver)]);',
			becomes: 'true',
			why: 'what has ended wins the race at once',
		},
	],
	'nodes/generation/storageLimit.ts': [
		{
			line: "return id === undefined ? 'memory' : id.startsWith('database') ? 'database' : 'elsewhere';",
			becomes: '""',
			why: 'what is neither in memory nor elsewhere is in the database',
		},
		{
			line: 'const [, megabytes] = /max size limit of ([\\d.]+) MB/i.exec(words) ?? [];',
			becomes: '["Stryker was here"]',
			why: 'the second of one is none, either',
		},
	],
	'nodes/run/toItem.ts': [
		{
			line: 'return { task, input: input as IDataObject | undefined, output: end?.output, error: errorOf(order), earlierTaskIds };',
			becomes: 'end.output',
			why: 'it has ended; only the compiler asks',
		},
	],
	'nodes/durable/parentExecutions.ts': [
		{
			line: 'const { reason } = (data?.resultData.error ?? {}) as { reason?: unknown };',
			becomes: 'data.resultData',
			why: 'only asked where there is an error',
		},
		{
			line: 'for (let around = 0; parentId !== undefined && around < MOST_AROUND; around++) {',
			becomes: 'true',
			why: 'there is no execution without an ID, so nothing is read and the result is the same',
		},
		{
			line: 'const next = around === undefined && data !== undefined ? this.next(id, data) : undefined;',
			becomes: 'true',
			why: 'where there is no data, it has returned before',
		},
		{
			line: 'const { waitingChildExecutionIds = [] } = executionData?.nodeExecutionStack[0]?.metadata ?? {};',
			becomes: '["Stryker was here"]',
			why: 'no execution is called so',
		},
	],
	'nodes/durable/toNodeOutput.ts': [
		{
			line: 'const hasResults = orders.some(({ end }) => end?.output !== undefined);',
			becomes: 'end.output',
			why: 'all have ended; only the compiler asks',
		},
	],
	'core/account/accountSlots.ts': [
		{
			line: 'if (this.waiting.size <= 1) return [...this.waiting][0];',
			becomes: 'false',
			why: 'only slower: without the others, the only one comes next',
		},
		{
			line: 'if (this.waiting.size <= 1) return [...this.waiting][0];',
			becomes: 'this.waiting.size < 1',
			why: 'the same',
		},
		{ line: 'if (fewest === 0) break;', becomes: 'false', why: 'only slower: no run has fewer than none' },
	],
	'core/http/retry.ts': [
		{
			line: "if (status === 303 || status === 408 || status >= 500 || status < 200) return 'unknown';",
			becomes: 'status <= 200',
			why: '200 has been answered above',
		},
		{
			line: "const serviceNowMs = parseDate(headers.date ?? '');",
			becomes: '"Stryker was here!"',
			why: 'neither text is a date',
		},
	],
	'nodes/run/writeAheadStore.ts': [
		{ line: '} finally {', becomes: '{}', why: 'what stays in memory is one settled promise for each node' },
		{ line: 'if (lastTurns.get(row) === ended) lastTurns.delete(row);', becomes: 'false', why: 'the same' },
	],
	'core/orders/jobs.ts': [
		{ line: '} finally {', becomes: '{}', why: 'the batch waits for answers that have come no longer than for none' },
		{ line: '} finally {', becomes: '{}', why: 'once all have ended, nothing is left that a stop could end' },
	],
	'core/polling/startTimes.ts': [
		{
			line: 'return ageMs > 0 && ageMs < LONGEST_AGE_MS ? nowMs - ageMs : nowMs;',
			becomes: 'ageMs >= 0',
			why: 'at 0 both are now',
		},
	],
	'nodes/durable/answerAwaited.ts': [
		{
			line: "if (type !== CHAT_TRIGGER_NODE_TYPE) return parameters?.responseMode ?? 'onReceived';",
			becomes: 'parameters.responseMode',
			why: 'n8n gives the parameters where it is asked for them; only the compiler asks',
		},
		{
			line: "return !disabled && (type === FORM_NODE_TYPE || (type === WAIT_NODE_TYPE && parameters?.resume === 'form'));",
			becomes: 'parameters.resume',
			why: 'the same',
		},
	],
	'nodes/durable/outputResults.ts': [
		{
			line: "const [operation = ''] = orders.map(operationOf);",
			becomes: '"Stryker was here!"',
			why: 'there is at least one order; only the compiler asks',
		},
		{
			line: 'const hints = new Set(orders.flatMap(({ end }) => end?.hints ?? []));',
			becomes: 'end.hints',
			why: 'all have ended; only the compiler asks',
		},
	],
	'nodes/durable/steps.ts': [
		{ line: '} catch {', becomes: '{}', why: 'undefined is as false as false' },
		{
			line: "const isUnsent = order.state === 'planned' && !request?.maybeSent && doubts-- <= 0;",
			becomes: 'request.maybeSent',
			why: 'an order that is planned has a request; only the compiler asks',
		},
	],
	'nodes/durable/orderItems.ts': [
		{
			line: "message: describe(error, { recovery: 'runAgain' }),",
			becomes: '{}',
			why: 'only a retry and an agent have other words',
		},
		{ line: "message: describe(error, { recovery: 'runAgain' }),", becomes: '""', why: 'the same' },
		{
			line: 'return salvageOrders(items) ?? (items.length > 0 ? items : [{ json: {} }]).map(salvageOrder);',
			becomes: '{}',
			why: 'an item without data is read like one whose data are empty',
		},
	],
	'core/http/requestLimiter.ts': [
		{
			line: 'this.slowedToMs = this.slowedToMs > this.window.spacingMs ? this.slowedToMs * 0.95 : 0;',
			becomes: 'this.slowedToMs >= this.window.spacingMs',
			why: 'no power of 0.95 makes them equal',
		},
		{
			line: 'for (const [name, { lastAtMs }] of this.windows) if (lastAtMs + WINDOW_MS < nowMs) this.windows.delete(name);',
			becomes: 'lastAtMs + WINDOW_MS <= nowMs',
			why: 'at that moment nothing in the window counts any more',
		},
		{
			line: 'if (this.turns.has(lane)) return;',
			becomes: 'false',
			why: 'only slower: the loop looks once more',
		},
		{
			line: 'this.wake?.abort();',
			becomes: 'this.wake.abort',
			why: 'while something waits, the loop sleeps; only the compiler asks',
		},
	],
	'nodes/purchaseLog/purchaseTable.ts': [
		...['false', '["Stryker was here"]'].map((becomes) => ({
			line: 'const rows = first === undefined ? [] : await this.rowsOfNode(first.run, first.since);',
			becomes,
			why: 'of those who ask together there is one at least; only the compiler asks',
		})),
		{
			line: 'void write.then(() => this.writes.delete(write));',
			becomes: '() => undefined',
			why: 'a write that is over is waited for in no time',
		},
		{
			line: 'const found: IDataObject[] = [];',
			becomes: '["Stryker was here"]',
			why: 'what has no key is given to nobody who asks for one',
		},
		{ line: '() => false,', becomes: '() => undefined', why: 'undefined is as false as false' },
	],
	'nodes/run/openPurchaseLog.ts': [
		{
			line: 'const [, missing] = Object.entries(NEEDED_NODES).find(([type]) => known[type] === undefined) ?? [];',
			becomes: '["Stryker was here"]',
			why: 'only the second part is read, and there is none',
		},
	],
	'nodes/durable/startDurableWait.ts': [
		{
			line: "if (order.request === undefined || order.state !== 'planned') continue;",
			becomes: 'false',
			why: 'a planned order has a request; only the compiler asks',
		},
		{
			line: 'for (const hint of order.end?.hints ?? []) run.hints.add(hint);',
			becomes: 'order.end.hints',
			why: 'all orders have ended; only the compiler asks',
		},
		{
			line: 'if (orders.every(({ end }) => end?.error === undefined)) run.ledger.clearRun();',
			becomes: 'end.error',
			why: 'the same',
		},
	],
	'nodes/generation/downloads.ts': [
		{
			line: "return String(headers[name] ?? '');",
			becomes: '"Stryker was here!"',
			why: 'neither a type nor a name is in these words',
		},
	],
	'nodes/generation/taskProduct.ts': [
		{
			line: "const operation = acceptedAtMs === undefined ? 'waitForTask' : 'generate';",
			becomes: '""',
			why: 'the advice for an agent asks only if it is Generate',
		},
	],
	'nodes/run/runItems.ts': [
		{
			line: 'return prepared.filter(isMistake).map(({ work, input, inputFiles }) => ({ error: work, input, inputFiles }));',
			becomes: 'prepared',
			why: 'nothing could be prepared; only the compiler asks',
		},
		{
			line: 'return isOrder(work) ? { run: async () => await Promise.resolve(undefined) } : { run: work.read };',
			becomes: '() => undefined',
			why: 'whoever runs it waits for what comes of it',
		},
	],
};
