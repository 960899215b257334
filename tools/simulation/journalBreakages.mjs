/**
 * Breakages of the journal: one for each rule by which rows, leases and marks keep a purchase from being made twice, or from being in
 * doubt without need. See `breakages.mjs`.
 *
 * @type {import('./breakages.mjs').Breakage[]}
 */
export const journal = [
	// The rows of an attempt.
	{
		promise: 'IDs reach the purchase log',
		file: 'core/orders/submit.ts',
		find: "writeAhead.note?.(order, 'accepted', { taskId: answer.id });",
		becomes: '',
	},
	{
		promise: 'unknown outcomes reach the purchase log',
		file: 'core/orders/submit.ts',
		find: "writeAhead.note?.(order, isUnknown ? 'unknown' : 'not_accepted', { error });",
		becomes: "if (!isUnknown) writeAhead.note?.(order, 'not_accepted', { error });",
	},
	{
		promise: 'a request that is put off withdraws its row',
		file: 'core/journal/journal.ts',
		find: "this.note(order, 'not_accepted', { error: answer, pauseMs });",
		becomes: '',
	},
	{
		promise: 'the rows of an insert whose answer was lost are withdrawn',
		file: 'core/journal/journal.ts',
		find: '				this.withdraw(left);',
		becomes: '',
	},
	{
		promise: 'a withdrawn attempt is not sent',
		file: 'core/journal/journal.ts',
		find: 'const attempt = `',
		becomes: 'const attempt = order.purchase?.attempt ?? `',
	},
	{
		promise: 'the numbers of a run have no gaps, although an insert has failed',
		file: 'core/journal/journal.ts',
		find: '				this.withdraw(left);',
		becomes: '				this.withdraw(left);\n				this.memory.nextNumber += left.length;',
	},
	{
		promise: 'an order that waits for a place of the account has no row',
		file: 'core/orders/createInSlot.ts',
		find: 'const slot = await slots.take(request);',
		becomes: 'await tries.begin?.(tries.signal);\n		const slot = await slots.take(request);',
	},
	{
		promise: 'only rows whose turn is near are written',
		file: 'core/account/rowBudget.ts',
		find: 'const waitMs = isNear ? 0 :',
		becomes: 'const waitMs = isNear || true ? 0 :',
	},
	{
		promise: 'a row is withdrawn when a pause moves its turn away',
		file: 'core/http/requests.ts',
		find: 'limiter.acquire(signal, tries.turnWithinMs)',
		becomes: 'limiter.acquire(signal)',
	},
	{
		promise: 'an answer of 429 says that the account is full',
		file: 'core/orders/submit.ts',
		find: 'guarded.putOff(pauseMs, answer);',
		becomes: 'guarded.putOff(pauseMs);',
	},
	{
		promise: 'while the account is full, one order asks',
		file: 'core/account/rowBudget.ts',
		find: 'if (this.full !== undefined) this.asking = permit;',
		becomes: '',
	},
	{
		promise: 'a row that is gone is not counted as on its way',
		file: 'core/account/rowBudget.ts',
		find: 'end: () => {\n				count(false);',
		becomes: 'end: () => {',
	},
	{
		promise: 'a run whose database is busy for a moment has rows',
		file: 'nodes/run/openJournal.ts',
		find: 'thrown instanceof NoTableError ? thrown.message : undefined;',
		becomes: 'String(thrown);',
	},
	{
		promise: 'what waits for the outcome of an earlier try is not submitted when a key was refused meanwhile',
		file: 'nodes/run/runItems.ts',
		find: 'gate: new SubmissionGate(),',
		becomes: '',
	},
	{
		promise: 'a stop does not wait for n8n’s data table',
		file: 'nodes/run/openJournal.ts',
		find: 'await untilAborted(assertTable(context), context.getExecutionCancelSignal());',
		becomes: 'await assertTable(context);',
	},
	{
		promise: 'rows of the log are written again when the database did not take them',
		file: 'nodes/journal/laterRows.ts',
		find: 'const PAUSES_MS = [500, 2000];',
		becomes: 'const PAUSES_MS: number[] = [];',
	},
	// The fence between executions.
	{
		promise: 'whoever has written rows looks for leases before it sends',
		file: 'core/journal/journal.ts',
		find: 'this.stopped = this.lookAround(found);',
		becomes: '',
	},
	{
		promise: 'a table that was cleared stops all who have sent by it',
		file: 'core/journal/journal.ts',
		find: 'return leases.hasOwn ? undefined : notRecorded(ROWS_GONE);',
		becomes: 'return undefined;',
	},
	{
		promise: 'the own lease is known by its name, not by its number',
		file: 'core/journal/journal.ts',
		find: 'const isOwn = ({ attempt }: StoredRow) => own.includes(attempt);',
		becomes:
			'const isOwn = ({ id }: StoredRow) => id === ((this as never as { n?: number }).n ??= rows.find((row) => row !== undefined && own.includes(row.attempt))?.id);',
	},
	{
		promise: 'the lease of a first try outranks no other',
		file: 'core/journal/journal.ts',
		find: '? leases.filter((row) => row.execution !== row.first && row.code !== GAP_CODE)',
		becomes: '? leases',
	},
	{
		promise: 'a retry reads the rows after its lease is there',
		file: 'core/journal/journal.ts',
		find: 'const rows = await this.readRun(breakIfDue).catch((thrown: unknown) => {',
		becomes: 'const rows = before ?? await this.readRun(breakIfDue).catch((thrown: unknown) => {',
	},
	{
		promise: 'a retry without its lease sends nothing',
		file: 'core/journal/journal.ts',
		find: 'this.stopped = error;',
		becomes: '',
	},
	{
		promise: 'rows that were read since the execution began are looked at',
		file: 'nodes/journal/purchasesTable.ts',
		find: 'seen.filter(({ atMs }) => atMs < beganAtMs - CLOCKS_APART_MS)',
		becomes: 'seen',
	},
	{
		promise: 'before a run goes on without rows, it looks for a retry that has some',
		file: 'core/journal/journal.ts',
		find: 'if (other !== undefined) throw (this.stopped ??= submittedBy(other));',
		becomes: '',
	},
	// What a retry makes of the rows.
	{
		promise: 'a retry after a crash goes on with what the log has',
		file: 'core/journal/replay.ts',
		find: 'this.ledger.accepted(order.item, toEntry(row));',
		becomes: 'this.ledger.lost(order.item, { ...toEntry(row), run: runOf(row), taskId: undefined });',
	},
	{
		promise: 'a retry after a crash does not buy again what was under way',
		file: 'core/journal/replay.ts',
		find: 'this.ledger.lost(order.item, { ...toEntry(row), run: runOf(row), taskId: undefined });',
		becomes: '',
	},
	{
		promise: 'a retry after a crash finds what has moved to another item',
		file: 'core/journal/replay.ts',
		find: 'if (order.request?.keyHash !== undefined) return false;',
		becomes: 'if (order.item >= 0) return false;',
	},
	{
		promise: 'a retry after a crash does not buy again what the log has under another request',
		file: 'core/journal/replay.ts',
		find: 'else this.ledger.lost(item, { ...toEntry(last), run: runOf(last) });',
		becomes: '',
	},
	{
		promise: 'a task of another request that is found late is no result',
		file: 'core/journal/journal.ts',
		find: 'if (isOther) return ledger.lost(',
		becomes: 'if (isOther && (false as boolean)) return ledger.lost(',
	},
	{
		promise: 'a second retry goes on with what the first one has bought in the place of what was in doubt',
		file: 'core/journal/replay.ts',
		find: 'if (row !== undefined) this.take(order, row);\n		return false;',
		becomes: 'return false;',
	},
	{
		promise: 'the states of an attempt count, not the sequence of its rows',
		file: 'core/journal/replay.ts',
		find: 'const byState = STATES.flatMap((state) => asWritten.filter((row) => row.state === state));',
		becomes: 'const byState = asWritten;',
	},
	{
		promise: 'declined content is not bought again by a retry after a crash',
		file: 'core/journal/replay.ts',
		find: "return isPermanent(row) ? 'created' : 'free';",
		becomes: "return 'free';",
	},
	{
		promise: 'a row says that the content of a task was declined',
		file: 'core/journal/journal.ts',
		find: "more: error?.details.permanent && state === 'failed' ? JSON.stringify({ permanent: true }) : '',",
		becomes: "more: '',",
	},
	{
		promise: 'a row says that a task has failed, so that a retry after a crash buys another one',
		file: 'core/journal/journal.ts',
		find: "if (end?.error?.kind === 'taskFailed') {",
		becomes: "if (end?.error?.kind === 'taskFailed' && (false as boolean)) {",
	},
	{
		promise: 'nobody is told of a doubt as long as an outcome may come',
		file: 'core/journal/journal.ts',
		find: 'if (this.mayGetOutcome(row)) this.unsettled.set(order, row);',
		becomes: '',
	},
	// Rows that are missing.
	{
		promise: 'a number that is missing says that rows were removed',
		file: 'core/journal/replay.ts',
		find: "['rowsRemoved', numbers.size < nextNumber || numbers.has(-1) || hasLostStart(attempts)],",
		becomes: "['rowsRemoved', false],",
	},
	{
		promise: 'of two first tries with rows, a retry adopts none',
		file: 'core/journal/replay.ts',
		find: "['twoFirstTries', firstTries.length > 1],",
		becomes: '',
	},
	{
		promise: 'of two first tries with marks, a retry adopts none',
		file: 'core/journal/gap.ts',
		find: 'if (marks.firstTries > 1) return GAPS.twoFirstTries;',
		becomes: '',
	},
	{
		promise: 'rows of another node with the name of this one tell nothing about what was not sent',
		file: 'core/journal/replay.ts',
		find: "['otherNode', rows.some((row) => row.run !== run)],",
		becomes: '',
		unfound: 'The workflow of the simulation has one node.',
		noticedBy: 'test/core/replay.test.ts',
	},
	{
		promise: 'a retry that has found rows missing says so to the next one',
		file: 'core/journal/replay.ts',
		find: "['takenOverWithGap', leases.some(({ code }) => code === GAP_CODE)],",
		becomes: '',
	},
	{
		promise: 'the mark of a run with rows says that there must be some',
		file: 'core/journal/gap.ts',
		find: 'return isOld || isAnyMissing || isFirstMissing ? GAPS.rowsRemoved : undefined;',
		becomes: 'return isOld ? GAPS.rowsRemoved : undefined;',
	},
	{
		promise: 'the mark of a run without rows counts, whatever rows there are',
		file: 'core/journal/gap.ts',
		find: 'if (marks.withoutRows) return INTERRUPTED;',
		becomes: '',
	},
	{
		promise: 'a mark is written before the first request',
		file: 'core/journal/journal.ts',
		find: 'const found = await outlasting(clock, async () => await marks.write(!isRetry))',
		becomes: "const found = await outlasting(clock, async () => await Promise.resolve('alone' as string))",
	},
	{
		promise: 'a mark is written after the first rows',
		file: 'core/journal/journal.ts',
		find: 'const permit = await this.ports.rows.take(this.ports.pace, signal);',
		becomes:
			'if (this.memory.isMarked !== true) await (this.marking ??= this.mark(order));\n		const permit = await this.ports.rows.take(this.ports.pace, signal);',
	},
	{
		promise: 'an execution that another worker takes over meets the mark of its own',
		file: 'core/journal/journal.ts',
		find: "if (found === 'taken') throw stop(INTERRUPTED);",
		becomes: '',
	},
	{
		promise: 'a mark that has come since the look says that another execution may have sent',
		file: 'core/journal/journal.ts',
		find: "if (found === 'beside' && missed?.marks !== false) {",
		becomes: 'if (false as boolean) {',
	},
	// One purchase for each key.
	{
		promise: 'what another execution has bought under a key is not bought again',
		file: 'core/journal/purchaseKey.ts',
		find: "meaningOf(row) !== 'free' && young.has(row.attempt)",
		becomes: "meaningOf(row) === 'unknown' && young.has(row.attempt)",
	},
	{
		promise: 'of two executions that claim a key at the same moment only one buys',
		file: 'core/journal/purchaseKey.ts',
		find: 'if (others.length === 0) return;',
		becomes: 'if (others.length >= 0) return;',
	},
	{
		promise: 'a Purchase Key is free for the next order when its request has ended',
		file: 'core/journal/purchaseKey.ts',
		find: '		keysUnderWay.delete(key);\n		settle(settled);',
		becomes: '		settle(settled);',
	},
	{
		promise: 'an attempt that gives way to another one takes back its claim of the key',
		file: 'core/journal/journal.ts',
		find: "				const error = asGatewayError(thrown);\n				this.note(order, 'not_accepted', { error });",
		becomes: '				const error = asGatewayError(thrown);',
	},
	{
		promise: 'of a Purchase Key, only what the named run has left is bought again',
		file: 'core/journal/purchaseKey.ts',
		find: 'isToSubmitAgain(request, last && runOf(last.row), keys.run)',
		becomes: 'request.submitAgainFor !== undefined',
	},
];
