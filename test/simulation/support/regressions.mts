import type { Case, PostPlan } from './cases.mts';

/**
 * Cases that have failed once, as they were made smaller. A new one is added by copying what a failing run prints.
 */
const PLAIN: Case = {
	items: [],
	rounds: 1,
	sameBodies: false,
	volatilePrompt: false,
	onError: 'stopWorkflow',
	maxTries: 1,
	retryExecutions: 0,
	retryOf: 'latest',
	submitAgainFor: 'nothing',
	concurrentTasks: 50,
	requestsPerSecond: 60,
	pollIntervalSeconds: 10,
	timeoutMinutes: 10,
	log: 'on',
	wait: 'untilReady',
	downloadResult: false,
	engine: 'one process',
	savesProgress: false,
	crashes: [],
	failingRecords: [],
	executions: 1,
	randomness: 0,
};

/** One item whose POSTs are answered so; each task would end well at once. */
const item = (...answers: string[]) => ({
	copies: 1,
	plan: {
		posts: answers.map((answer): PostPlan => ({ answer, task: { directives: 'duration=0s', polls: [] } })),
		files: [],
	},
});

/** One item whose task meets these answers to its checks. */
const task = (directives: string, polls: string[] = [], further?: string) => ({
	copies: 1,
	plan: {
		posts: [{ answer: 'ok', task: { directives, polls, ...(further === undefined ? {} : { further }) } }],
		files: [],
	},
});

export const regressions: Array<{ name: string; drawn: Case }> = [
	{
		name: 'a submission that waits to be repeated is held back when another item hears a 402',
		drawn: { ...PLAIN, items: [item('refused'), item('402')], onError: 'continueRegularOutput' },
	},
	{
		name: 'two identical items: the second is not sent again after the 403 of the first',
		drawn: { ...PLAIN, items: [{ ...item('refused', '403'), copies: 2 }], onError: 'continueRegularOutput' },
	},
	{
		name: 'a stop is not held up by a slow submission that the batch waits for after an error',
		drawn: { ...PLAIN, items: [item('slow:200s'), item('500')], stopAtMs: 0 },
	},
	{
		name: 'a task of an earlier try is named, although the last try did not get to its item',
		drawn: { ...PLAIN, items: [item('slow:200s'), item('ok'), item('ok')], concurrentTasks: 2, maxTries: 2 },
	},
	{
		name: 'what a lost worker has bought is found by its rows',
		drawn: {
			...PLAIN,
			items: [
				{ copies: 1, plan: { posts: [{ answer: '429:date7', task: { directives: '', polls: [] } }], files: [] } },
				{
					copies: 1,
					plan: {
						posts: [
							{ answer: 'reset!after', task: { directives: 'duration=20s result=outputs', polls: ['html', 'html'] } },
						],
						files: [],
					},
				},
				{
					copies: 1,
					plan: {
						posts: [
							{ answer: '503:2', task: { directives: 'duration=20s', polls: ['ok'] } },
							{ answer: 'ok', task: { directives: 'duration=20s', polls: ['refused', 'reset', '429', 'cut'] } },
						],
						files: [],
					},
				},
				{
					copies: 1,
					plan: { posts: [{ answer: 'ok', task: { directives: 'duration=5s progress=steps', polls: [] } }], files: [] },
				},
				{
					copies: 1,
					plan: {
						posts: [
							{
								answer: 'ok',
								task: { directives: 'duration=20s result=output', polls: ['400', 'cut', 'empty', '400'] },
							},
							{
								answer: '429:3',
								task: {
									directives: 'duration=300s result=output hidden=3s record=wrapped done_word=succeeded',
									polls: ['504', '400'],
								},
							},
							{ answer: 'ok', task: { directives: 'duration=20s case=upper result=none', polls: [] } },
						],
						files: ['404', 'reset'],
					},
				},
			],
			onError: 'continueRegularOutput',
			maxTries: 3,
			concurrentTasks: 1,
			pollIntervalSeconds: 200,
			wait: 'acrossRestarts',
			engine: 'workers',
			savesProgress: true,
			crashes: [{ afterSteps: 186, downMs: 100000 }],
			randomness: 634030293,
		},
	},
	{
		name: 'a failure that names no task is no reason to buy again, whatever tries again',
		drawn: {
			...PLAIN,
			items: [task('duration=9s', ['failed_other', 'status_error', 'error_200', 'code_msg'])],
			...{ maxTries: 3, retryExecutions: 1, timeoutMinutes: 0.2 },
		},
	},
	{
		name: 'an expression that gives the own run buys nothing again of what is never shown',
		drawn: { ...PLAIN, items: [task('duration=9s', [], 'code_msg')], maxTries: 3, submitAgainFor: 'its own run' },
	},
	{
		name: 'a task that is never shown stays the one of its Purchase Key',
		drawn: {
			...PLAIN,
			items: [task('duration=9s', [], 'failed_other')],
			...{ purchaseKey: true, executions: 2, rounds: 2, sameBodies: true, retryExecutions: 1 },
			onError: 'continueRegularOutput',
		},
	},
	{
		name: 'a task that is never shown is waited for some minutes over all sleeps',
		drawn: {
			...PLAIN,
			items: [task('duration=9s', [], 'error_200')],
			...{ wait: 'acrossRestarts', pollIntervalSeconds: 70, timeoutMinutes: 60, onError: 'continueRegularOutput' },
		},
	},
	{
		name: 'a task that is refused is waited for some minutes over all sleeps',
		drawn: {
			...PLAIN,
			items: [task('duration=1000s', ['ok'], '423')],
			...{ wait: 'acrossRestarts', pollIntervalSeconds: 200, timeoutMinutes: 60, onError: 'continueRegularOutput' },
		},
	},
	{
		name: 'a task that is refused is waited for some minutes over all sleeps',
		drawn: {
			...PLAIN,
			items: [task('duration=1000s', ['ok'], '423')],
			...{ wait: 'acrossRestarts', pollIntervalSeconds: 200, timeoutMinutes: 60, onError: 'continueRegularOutput' },
		},
	},
	{
		name: 'the ID of the service behind is known after a sleep, and in the process that takes over',
		drawn: {
			...PLAIN,
			items: [task('duration=300s ids=behind')],
			...{ wait: 'acrossRestarts', pollIntervalSeconds: 200, timeoutMinutes: 60 },
		},
	},
	{
		name: 'the ID of the service behind is known in a retry, although the task has finished meanwhile',
		drawn: { ...PLAIN, items: [task('duration=45s ids=behind', ['ok', '429:4000'])], maxTries: 2 },
	},
	{
		name: 'a page in the place of a status says nothing about the task, for minutes',
		drawn: {
			...PLAIN,
			items: ['401html', '403html', '404html', '404text', '403proxy'].map((page) =>
				task('duration=20s', Array<string>(8).fill(page)),
			),
		},
	},
	{
		name: 'after pages in a row nothing more is submitted',
		drawn: {
			...PLAIN,
			items: [item('403html'), item('403proxy'), item('401html'), item('ok'), item('ok')],
			...{ onError: 'continueRegularOutput', requestsPerSecond: 1 },
		},
	},
	{
		name: 'content that is declined stays the task of its Purchase Key',
		drawn: {
			...PLAIN,
			items: [task('duration=5s fail=sensitive_words_detected'), task('duration=5s fail=moderation_blocked')],
			...{ purchaseKey: true, executions: 2, rounds: 2, sameBodies: true, retryExecutions: 1 },
			onError: 'continueRegularOutput',
		},
	},
	{
		name: 'an execution that comes back finds the lease of a retry in its second round, too',
		drawn: {
			...PLAIN,
			items: [item('ok')],
			...{ rounds: 2, retryExecutions: 1, onError: 'continueRegularOutput' },
			crashes: [{ afterSteps: 4, downMs: 1000, silentMs: 210_953 }],
			randomness: 478630170,
		},
	},
	{
		name: 'an execution that comes back to a full table looks for a retry before it goes on without rows',
		drawn: {
			...PLAIN,
			items: [item('ok')],
			...{ retryExecutions: 1, crashes: [{ afterSteps: 12, downMs: 1000, silentMs: 204_417 }] },
			...{ table: { fullAfter: 3 }, randomness: 961476474 },
		},
	},
	{
		name: 'a machine that stands still while the table is looked for does not make a run without rows',
		drawn: {
			...PLAIN,
			items: [item('ok')],
			...{ retryExecutions: 1, crashes: [{ afterSteps: 3, downMs: 1000, silentMs: 110_201 }], randomness: 1526181778 },
		},
	},
	{
		name: 'a stop does not wait for a table that takes half a minute',
		drawn: { ...PLAIN, items: [item('ok')], stopAtMs: 1159, table: { slow: [1] }, randomness: 294274561 },
	},
	{
		name: 'refusals of a group are one pause of the account',
		drawn: {
			...PLAIN,
			items: Array.from({ length: 8 }, () => item('429:3')),
			...{ onError: 'continueErrorOutput', requestsPerSecond: 40 },
		},
	},
	{
		name: 'what waits for the outcome of an earlier try is not submitted when a key was refused meanwhile',
		drawn: {
			...PLAIN,
			items: [item(), item('401~object')],
			...{ sameBodies: true, volatilePrompt: true, onError: 'continueRegularOutput', maxTries: 2 },
			...{ retryExecutions: 2, retryOf: 'first', requestsPerSecond: 1, pollIntervalSeconds: 3, downloadResult: true },
			crashes: [{ afterSteps: 8, during: 'between look and mark', downMs: 20_000, silentMs: 110_452 }],
			randomness: 1284098228,
		},
	},
	{
		name: 'a poller that replays the rows does not give one of two identical orders the task of the other',
		drawn: {
			...PLAIN,
			items: [{ ...item('ok'), copies: 2 }],
			...{
				wait: 'acrossRestarts',
				retryExecutions: 1,
				crashes: [{ afterSteps: 4, downMs: 1000 }],
				randomness: 926793842,
			},
		},
	},
	{
		name: 'a task that has failed and was replaced is named, although the poller that knew it is dead',
		drawn: {
			...PLAIN,
			items: [task('fail=content_policy_violation'), task('fail=generation_failed')],
			...{ wait: 'acrossRestarts', maxTries: 2, onError: 'continueRegularOutput', requestsPerSecond: 5 },
			...{ pollIntervalSeconds: undefined, randomness: 1186038707 },
			crashes: [{ afterSteps: 100, during: 'between look and mark of a poller', downMs: 20_000 }],
		},
	},
	{
		name: 'an order whose row meets that of a dead process under one Purchase Key withdraws its own while it waits',
		drawn: {
			...PLAIN,
			items: [item(), item()],
			...{ wait: 'acrossRestarts', purchaseKey: true, executions: 2, accountSlots: 1, engine: 'workers' },
			...{ submitAgainFor: 'the first run', retryOf: 'first', onError: 'continueErrorOutput' },
			...{ concurrentTasks: 1, requestsPerSecond: 1, timeoutMinutes: 60, randomness: 1812730875 },
			crashes: [{ afterSteps: 32, during: 'between row and look', downMs: 100_000 }],
		},
	},
	{
		name: 'a request in the place of a failed task that is in doubt is not sent a second time by the next poller',
		drawn: {
			...PLAIN,
			items: [task('fail=timeout')],
			...{ wait: 'acrossRestarts', onError: 'continueRegularOutput', maxTries: 2 },
			crashes: [{ afterSteps: 50, during: 'between POST and answer', downMs: 1000 }],
			randomness: 724088555,
		},
	},
	{
		name: 'a table that is renamed stays the table of a run that sleeps',
		drawn: {
			...PLAIN,
			items: [item(), { ...item(), copies: 2 }],
			...{ wait: 'acrossRestarts', engine: 'workers', concurrentTasks: 1, onError: 'continueErrorOutput' },
			...{
				pollIntervalSeconds: 200,
				timeoutMinutes: 60,
				table: { events: [{ does: 'rename', afterUses: 7 }] },
				randomness: 669288881,
			},
		},
	},
	{
		name: 'a stop does not wait for the lease of a poller, where the table does not answer',
		drawn: {
			...PLAIN,
			items: [{ ...item(), copies: 2 }],
			...{ wait: 'acrossRestarts', executions: 2, requestsPerSecond: 1, table: { failing: [9] } },
			...{ stopDuring: 'between the lease of a poller and its start', randomness: 1514553586 },
		},
	},
	{
		name: 'rows that are removed after the lease of a poller was written, and before it reads them, are missed',
		drawn: {
			...PLAIN,
			...({
				items: [
					{ copies: 1, plan: { posts: [], files: [] } },
					{ copies: 1, plan: { posts: [], files: [] } },
				],
				retryExecutions: 2,
				timeoutMinutes: 60,
				wait: 'acrossRestarts',
				crashes: [
					{ afterSteps: 2, downMs: 20000 },
					{ afterSteps: 6, downMs: 20000, during: 'before a poller is woken' },
				],
				randomness: 1587902246,
				table: { events: [{ does: 'clear half', afterDeathMs: 18875 }], isSqlite: true },
			} as Partial<Case>),
		},
	},
	{
		name: 'an order that had ended in the node, and that Retry On Fail of a dead poller has bought, is not bought again',
		drawn: {
			...PLAIN,
			...({
				items: [
					{
						copies: 1,
						plan: {
							posts: [
								{ answer: 'ok', task: { directives: 'duration=0s', polls: [] } },
								{ answer: 'ok', task: { directives: 'duration=300s', polls: [] } },
							],
							files: [],
						},
					},
					{
						copies: 1,
						plan: {
							posts: [
								{ answer: '500', task: { directives: 'duration=2s', polls: [] } },
								{ answer: 'ok', task: { directives: 'duration=300s', polls: [] } },
							],
							files: [],
						},
					},
				],
				rounds: 2,
				onError: 'continueErrorOutput',
				maxTries: 2,
				retryExecutions: 2,
				retryOf: 'first',
				submitAgainFor: 'the last run',
				requestsPerSecond: 5,
				timeoutMinutes: 60,
				wait: 'acrossRestarts',
				crashes: [
					{ afterSteps: 214, downMs: 100000, silentMs: 261537 },
					{ afterSteps: 276, during: 'between POST and answer of a poller', downMs: 100000 },
					{ afterSteps: 29, downMs: 100000, during: 'between POST and answer of a poller' },
				],
				executions: 2,
				randomness: 1729374872,
				retriesAtOnce: true,
				pollIntervalSeconds: undefined,
			} as Partial<Case>),
		},
	},
	{
		name: 'a doubt of which no order asks for the name ends n8n with no unhandled rejection',
		drawn: {
			...PLAIN,
			...({
				items: [
					{
						copies: 4,
						plan: {
							posts: [
								{
									answer: 'ok',
									task: { directives: 'duration=1000s created=wrapped_task_id fail=insufficient_quota', polls: [] },
								},
							],
							files: [],
						},
					},
					{
						copies: 3,
						plan: {
							posts: [
								{ answer: 'dns', task: { directives: 'duration=5s', polls: ['504', 'html', '408', '504'] } },
								{ answer: '504', task: { directives: 'duration=20s record=wrapped id=odd', polls: [] } },
							],
							files: [],
						},
					},
					{
						copies: 4,
						plan: {
							posts: [
								{ answer: 'ok', task: { directives: 'duration=1000s record=wrapped', polls: ['429:date6'] } },
								{ answer: 'ok', task: { directives: 'duration=5s', polls: ['502'] } },
								{ answer: 'ok', task: { directives: 'duration=100s', polls: ['refused', '429:4', '429:date6'] } },
							],
							files: [],
						},
					},
					{
						copies: 3,
						plan: {
							posts: [
								{ answer: '401~object', task: { directives: 'duration=5s result=images', polls: [] } },
								{
									answer: '400',
									task: {
										directives: 'duration=20s running_word=rendering fail=internal_error',
										polls: ['408', '503html', 'refused', 'reset'],
									},
								},
								{ answer: '503:date150', task: { directives: 'duration=300s fail=invalid_request', polls: [] } },
							],
							files: [],
						},
					},
					{
						copies: 5,
						plan: { posts: [{ answer: 'ok', task: { directives: 'duration=1000s', polls: ['dns'] } }], files: [] },
					},
				],
				sameBodies: true,
				maxTries: 2,
				retryExecutions: 1,
				concurrentTasks: 1,
				requestsPerSecond: 1,
				timeoutMinutes: 60,
				wait: 'acrossRestarts',
				downloadResult: true,
				tableIsFull: true,
				engine: 'workers',
				crashes: [
					{ afterSteps: 87, downMs: 20000 },
					{ afterSteps: 126, downMs: 20000 },
					{ afterSteps: 5, downMs: 100000 },
				],
				failingRecords: [1, 2],
				randomness: 115796484,
				table: { events: [{ does: 'clear', afterUses: 8 }], isSqlite: true },
				pollIntervalSeconds: undefined,
			} as Partial<Case>),
		},
	},
	{
		name: 'a row that a silent execution has written in the place of another is no doubt before its outcome can come',
		drawn: {
			...PLAIN,
			items: [item(), item()],
			onError: 'continueRegularOutput',
			retryExecutions: 2,
			crashes: [{ afterSteps: 7, during: 'between row and look', downMs: 20_000, silentMs: 110_016 }],
			randomness: 1_944_669_313,
			retriesAtOnce: true,
		},
	},
	{
		name: 'a first try that was silent sends nothing when a retry has marked the run, and its rows are in another table',
		drawn: {
			...PLAIN,
			items: [item('html!after')],
			retryExecutions: 2,
			crashes: [{ afterSteps: 12, during: 'between look and mark', downMs: 1_000, silentMs: 116_759 }],
			randomness: 347_854_067,
			table: { events: [{ does: 'rename', afterDeathMs: 69 }], isSqlite: true },
		},
	},
	{
		name: 'a retry goes on with the task that the one before has bought in the place of a failed one',
		drawn: {
			...PLAIN,
			items: [
				item(),
				{
					copies: 1,
					plan: {
						posts: [{ answer: 'ok', task: { directives: 'duration=45s fail=generation_failed', polls: [] } }],
						files: [],
					},
				},
			],
			maxTries: 3,
			retryExecutions: 2,
			timeoutMinutes: 0.2,
			downloadResult: true,
			pollIntervalSeconds: undefined,
			crashes: [{ afterSteps: 198, downMs: 1_000 }],
			randomness: 441_980_911,
			table: { failing: [4, 4] },
		},
	},
	{
		name: 'a task that had failed before a poller died is named beside the one in its place',
		drawn: {
			...PLAIN,
			items: [
				{
					copies: 1,
					plan: {
						posts: [{ answer: 'ok', task: { directives: 'duration=45s fail=generation_failed', polls: [] } }],
						files: [],
					},
				},
			],
			maxTries: 2,
			wait: 'acrossRestarts',
			crashes: [{ afterSteps: 396, downMs: 1_000 }],
			randomness: 1_194_312_060,
		},
	},
	{
		name: 'a task that had failed is named where a person stops the poller that has replaced it',
		drawn: {
			...PLAIN,
			items: [
				{
					copies: 2,
					plan: {
						posts: [
							{ answer: 'ok', task: { directives: 'fail=timeout', polls: [] } },
							{ answer: 'ok', task: { directives: 'fail=internal_error', polls: [] } },
						],
						files: [],
					},
				},
				{ copies: 5, plan: { posts: [], files: [] } },
				{
					copies: 3,
					plan: {
						posts: [
							{
								answer: 'ok',
								task: { directives: 'duration=100s hidden=3s', polls: ['429:4000', 'reset', '429', '429'] },
							},
							{
								answer: '504!after',
								task: { directives: 'duration=0s record=wrapped', polls: ['429', '502', '429:4'] },
							},
						],
						files: ['reset', '404', 'reset', 'html', '404', 'html', 'reset'],
					},
				},
			],
			sameBodies: true,
			onError: 'continueRegularOutput',
			maxTries: 3,
			retryExecutions: 2,
			retryOf: 'first',
			submitAgainFor: 'the first run',
			concurrentTasks: 1,
			requestsPerSecond: 5,
			timeoutMinutes: 3,
			wait: 'acrossRestarts',
			clockSetBack: { atMs: 15366, byMs: 86400000 },
			engine: 'workers',
			randomness: 1210923664,
			clicks: [{ atMs: 261902, on: 'what polls', does: 'stop' }],
			pollIntervalSeconds: undefined,
		},
	},
	{
		name: 'a clock that is set back by a day keeps no retry waiting for the outcome of a request',
		drawn: {
			...PLAIN,
			items: [{ copies: 1, plan: { posts: [{ answer: '400', task: { directives: '', polls: [] } }], files: [] } }],
			volatilePrompt: true,
			maxTries: 2,
			retryExecutions: 1,
			pollIntervalSeconds: 70,
			wait: 'acrossRestarts',
			clockSetBack: { atMs: 11273, byMs: 86400000 },
			savesProgress: true,
			crashes: [{ afterSteps: 3, downMs: 20000 }],
			randomness: 2136950722,
			table: { fullAfter: 2 },
		},
	},
	{
		name: 'a run that names itself buys nothing again of what it has left, in the execution either that it was handed to',
		drawn: {
			...PLAIN,
			items: [
				{ copies: 2, plan: { posts: [{ answer: '408!after', task: { directives: '', polls: [] } }], files: [] } },
			],
			onError: 'continueRegularOutput',
			retryExecutions: 2,
			submitAgainFor: 'its own run',
			concurrentTasks: 2,
			wait: 'acrossRestarts',
			downloadResult: true,
			engine: 'workers',
			savesProgress: true,
			purchaseKey: true,
			randomness: 814565628,
			pollIntervalSeconds: undefined,
		},
	},
	{
		name: 'a poller whose rows a person has removed does not take the lease before its own for a newer one',
		drawn: {
			...PLAIN,
			items: [
				{
					copies: 1,
					plan: { posts: [{ answer: 'ok', task: { directives: 'duration=5s id=odd', polls: [] } }], files: [] },
				},
				{
					copies: 1,
					plan: {
						posts: [{ answer: '429:3', task: { directives: 'duration=5s progress=jump record=wrapped', polls: [] } }],
						files: [],
					},
				},
			],
			sameBodies: true,
			volatilePrompt: true,
			maxTries: 5,
			retryExecutions: 1,
			submitAgainFor: 'the last run',
			requestsPerSecond: 5,
			pollIntervalSeconds: 70,
			wait: 'acrossRestarts',
			downloadResult: true,
			savesProgress: true,
			crashes: [{ afterSteps: 4, downMs: 1000 }],
			randomness: 1072636277,
			clicks: [
				{ atMs: 563, on: 'what polls', does: 'stop', isParking: true },
				{ atMs: 52272, on: 'what polls', does: 'retry' },
				{ atMs: 3161, on: 'what polls', does: 'retry' },
			],
			table: { events: [{ does: 'restore', afterDeathMs: 94974 }] },
		},
	},
	{
		name: 'a retry without rows does not know what Retry On Fail has bought in the place of a task that failed',
		drawn: {
			...PLAIN,
			items: [
				{
					copies: 1,
					plan: {
						posts: [
							{ answer: 'ok', task: { directives: 'duration=300s', polls: [] } },
							{ answer: 'ok', task: { directives: 'fail=insufficient_quota', polls: [] } },
						],
						files: [],
					},
				},
			],
			rounds: 3,
			sameBodies: true,
			maxTries: 2,
			retryExecutions: 2,
			wait: 'acrossRestarts',
			crashes: [
				{ afterSteps: 134, downMs: 1000 },
				{ afterSteps: 7, during: 'between the lease of a poller and its start', downMs: 1000 },
				{ afterSteps: 56, during: 'while parking', downMs: 1000 },
			],
			table: { events: [{ does: 'clear', afterDeathMs: 73 }], isSqlite: true },
			randomness: 322115776,
		},
	},
	{
		name: 'an order in n8n’s database that finds no place asks until its timeout, and not for ever',
		drawn: {
			...PLAIN,
			items: [
				{
					copies: 1,
					plan: {
						posts: [
							{
								answer: 'ok',
								task: { directives: 'duration=0s created=wrapped_task_id duration=never', polls: ['503', '502'] },
							},
						],
						files: [],
					},
				},
			],
			rounds: 3,
			sameBodies: true,
			retryExecutions: 1,
			retryOf: 'first',
			concurrentTasks: 3,
			timeoutMinutes: 60,
			wait: 'acrossRestarts',
			executions: 2,
			accountSlots: 1,
			randomness: 306084217,
			table: { events: [{ does: 'clear half', afterUses: 7 }], isSqlite: true },
			pollIntervalSeconds: undefined,
		},
	},
	{
		name: 'a retry after a crash does not buy a changed item again that a run in n8n’s database has bought',
		drawn: {
			...PLAIN,
			items: [{ copies: 1, plan: { posts: [], files: [] } }],
			rounds: 2,
			volatilePrompt: true,
			onError: 'continueErrorOutput',
			retryExecutions: 2,
			pollIntervalSeconds: 70,
			wait: 'acrossRestarts',
			crashes: [
				{ afterSteps: 4, downMs: 100000, silentMs: 80053 },
				{ afterSteps: 2, during: 'before a poller is woken', downMs: 1000 },
			],
			randomness: 766684616,
		},
	},
	{
		name: 'a lease that comes late does not stop the poller to which its execution has handed the run',
		drawn: {
			...PLAIN,
			items: [
				{ copies: 2, plan: { posts: [], files: [] } },
				{ copies: 1, plan: { posts: [], files: [] } },
			],
			retryExecutions: 2,
			concurrentTasks: 1,
			pollIntervalSeconds: 200,
			wait: 'acrossRestarts',
			crashes: [{ afterSteps: 5, downMs: 1000 }],
			randomness: 676353257,
			table: { slow: [5, 4] },
			retriesAtOnce: true,
		},
	},
	{
		name: 'a try that hears late of its rows leaves no number out',
		drawn: {
			...PLAIN,
			items: [
				{ copies: 1, plan: { posts: [], files: [] } },
				{ copies: 2, plan: { posts: [], files: ['500', 'html', 'reset', 'html'] } },
				{
					copies: 1,
					plan: { posts: [{ answer: 'ok', task: { directives: 'fail=internal_error', polls: [] } }], files: [] },
				},
			],
			maxTries: 5,
			concurrentTasks: 3,
			downloadResult: true,
			randomness: 264921402,
			table: { slow: [6, 7] },
		},
	},
];
