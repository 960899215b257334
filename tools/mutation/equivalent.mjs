/**
 * Mutants that no test can kill, because nobody outside could see a difference: each with the reason. One that is killed
 * or no longer exists must leave the list.
 *
 * @typedef {object} Equivalent
 * @property {string} line the line in which the mutant begins, without indentation
 * @property {string} becomes what Stryker puts in the place of the part that it changes
 * @property {string} why
 */

/** @type {Record<string, Equivalent[]>} by file */
export const equivalent = {
	'core/orders/submit.ts': [
		{
			line: "ledger.accepted(item, { taskId: id, hash: request?.hash ?? '', acceptedAtMs: boughtAtMs });",
			becomes: 'request.hash',
			why: 'an order that is sent has a request; only the compiler asks',
		},
		{
			line: "ledger.accepted(item, { taskId: id, hash: request?.hash ?? '', acceptedAtMs: boughtAtMs });",
			becomes: '"Stryker was here!"',
			why: 'the same',
		},
		{ line: 'noteRequestUrls(order, [request?.body]);', becomes: 'request.body', why: 'the same' },
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
		{ line: 'delete wait?.polls;', becomes: 'wait.polls', why: 'the same' },
	],
	'core/orders/advance.ts': [
		{
			line: "if (order.then === 'nothing' || task === undefined) return { timedOut: false };",
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
	'core/http/retry.ts': [
		{
			line: "if (status === 303 || status === 408 || status >= 500 || status < 200) return 'unknown';",
			becomes: 'status <= 200',
			why: '200 has been answered above',
		},
		{
			line: 'if (!value) return undefined;',
			becomes: 'false',
			why: 'neither nothing nor an empty text is a number or a date: undefined comes of them further down, too',
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
	'core/polling/waitForTask.ts': [
		{
			line: 'return ageMs > 0 && ageMs < LONGEST_AGE_MS ? nowMs - ageMs : nowMs;',
			becomes: 'ageMs >= 0',
			why: 'at 0 both are now',
		},
	],
	'core/http/requestLimiter.ts': [
		{
			line: 'this.slowedToMs = this.slowedToMs > this.window.spacingMs ? this.slowedToMs * 0.95 : 0;',
			becomes: 'this.slowedToMs >= this.window.spacingMs',
			why: 'no power of 0.95 makes them equal',
		},
	],
	'core/http/serviceErrors.ts': [
		{
			line: 'if (status >= 300 && status < 400) {',
			becomes: 'status <= 400',
			why: '400 has a meaning of its own, above',
		},
		{
			line: "if (status < 300 && status >= 200 && !isJson) return gatewayError('notTheService', {}, details);",
			becomes: 'status <= 300',
			why: '300 is a redirect, above',
		},
		{
			line: "const own = kind === 'notFound' || kind === 'permission' || kind === 'rejected' ? meanings[kind] : undefined;",
			becomes: 'true',
			why: 'there are no meanings but of these kinds; only the compiler asks',
		},
	],
	'core/client.ts': [
		{
			line: "const isUnknownModel = ({ serviceCode }: GatewayErrorDetails) => /^model_not_found$/i.test(serviceCode ?? '');",
			becomes: '"Stryker was here!"',
			why: 'neither text is that code',
		},
	],
	'core/records/ids.ts': [
		{ line: "const id = parseJson(found?.[1] ?? '');", becomes: '"Stryker was here!"', why: 'neither text is JSON' },
	],
	'core/polling/survivalTable.ts': [
		{ line: 'if (bin.fromMs >= toMs) break;', becomes: 'false', why: 'only faster: later bins have no part' },
		{ line: 'if (bin.fromMs >= toMs) break;', becomes: 'bin.fromMs > toMs', why: 'the same' },
		{
			line: 'for (let fromMs = YOUNGEST_MS; fromMs < OLDEST_MS; fromMs *= GROWTH) bins.push({ fromMs, toMs: fromMs * GROWTH });',
			becomes: 'fromMs <= OLDEST_MS',
			why: 'no bin begins exactly there',
		},
		{
			line: 'const share = toMs <= startMs ? 0 : Math.log(toMs / startMs) / Math.log(Math.max(2, PRIOR_TO_MS / startMs));',
			becomes: 'toMs < startMs',
			why: 'the logarithm of 1 is 0',
		},
		{ line: 'this.version++;', becomes: 'this.version--', why: 'any other number says that something has changed' },
		{ line: 'this.version++;', becomes: 'this.version--', why: 'the same' },
		{ line: 'this.version++;', becomes: 'this.version--', why: 'the same' },
	],
	'core/polling/planner.ts': [
		{ line: 'if (bin.toMs <= startMs) continue;', becomes: 'false', why: 'both sides of the equation shrink alike' },
		{ line: 'if (bin.toMs <= startMs) continue;', becomes: 'bin.toMs < startMs', why: 'the same' },
		{
			line: 'for (const { fromMs, toMs, weight } of windows) if (fromMs < ageMs && ageMs < toMs) sum += weight;',
			becomes: 'fromMs <= ageMs',
			why: 'the middle of a piece is no edge',
		},
		{
			line: 'for (const { fromMs, toMs, weight } of windows) if (fromMs < ageMs && ageMs < toMs) sum += weight;',
			becomes: 'ageMs <= toMs',
			why: 'the same',
		},
		{
			line: 'if (lostAtEndMs >= priceMs * runningAtEnd && lostAtEndMs > 0) {',
			becomes: 'lostAtEndMs > priceMs * runningAtEnd',
			why: 'the next piece begins at that moment',
		},
	],
	'core/polling/pollSchedule.ts': [
		{
			line: 'if (this.planned?.backlogMs === backlogMs && this.planned.tableVersion === version) return this.planned.atMs;',
			becomes: 'false',
			why: 'only slower: the plan is made anew',
		},
		{ line: 'this.planned = { backlogMs, tableVersion: version, atMs };', becomes: '{}', why: 'the same' },
		{
			line: 'return ageAtStartMs > SHORTEST_GAP_MS && ageAtStartMs > nextPollAtMs(NOT_POLLED, table, 1, 0);',
			becomes: 'true',
			why: 'only faster: no first check comes before that',
		},
		{
			line: 'return ageAtStartMs > SHORTEST_GAP_MS && ageAtStartMs > nextPollAtMs(NOT_POLLED, table, 1, 0);',
			becomes: 'ageAtStartMs >= SHORTEST_GAP_MS',
			why: 'the same',
		},
	],
	'core/polling/progress.ts': [
		{
			line: "{ curve: 'slowing', k: [1, 1], step: 1, weight: 0.5 },",
			becomes: '""',
			why: 'what is neither growing nor waiting is slowing',
		},
		{ line: "{ curve: 'slowing', k: [1, 1], step: 10, weight: 0.15 },", becomes: '""', why: 'the same' },
		{ line: "{ curve: 'slowing', k: [1, 1], step: 25, weight: 0.15 },", becomes: '""', why: 'the same' },
		{ line: "{ curve: 'slowing', k: [1, 1], step: 1, rounded: true, weight: 0.05 },", becomes: '""', why: 'the same' },
		{ line: "{ curve: 'slowing', k: [1, 1], step: 10, rounded: true, weight: 0.02 },", becomes: '""', why: 'the same' },
		{ line: "{ curve: 'slowing', k: [1, 1.5], step: 1, weight: 0.005 },", becomes: '""', why: 'the same' },
		{ line: "{ curve: 'slowing', k: [1.5, 2.5], step: 1, weight: 0.01 },", becomes: '""', why: 'the same' },
		{ line: "{ curve: 'slowing', k: [2.5, 4], step: 1, weight: 0.01 },", becomes: '""', why: 'the same' },
		{
			line: "{ curve: 'waiting', k: [1, 1], step: 1, weight: 0.005 },",
			becomes: '[]',
			why: 'at constant speed, nobody asks for k',
		},
	],
};
