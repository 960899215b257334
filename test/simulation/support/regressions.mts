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
	submitAgain: 'off',
	concurrentTasks: 50,
	requestsPerSecond: 60,
	pollIntervalSeconds: 10,
	timeoutMinutes: 10,
	onTimeout: 'error',
	whenDone: 'wait',
	downloadResult: false,
	surviveRestarts: false,
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
		name: 'an order that is tried again after a sleep is not in doubt because of its first try',
		drawn: {
			...PLAIN,
			items: [
				{
					copies: 1,
					plan: {
						posts: [
							{ answer: 'ok', task: { directives: 'fail=timeout', polls: [] } },
							{ answer: 'ok', task: { directives: 'created=no_id', polls: [] } },
						],
						files: [],
					},
				},
				{ copies: 1, plan: { posts: [{ answer: 'ok', task: { directives: '', polls: ['400'] } }], files: [] } },
				{
					copies: 1,
					plan: {
						posts: [
							{
								answer: 'cut',
								task: { directives: 'duration=1000s progress=stuck result=none', polls: ['503', '429:4000', 'ok'] },
							},
							{ answer: 'ok', task: { directives: 'duration=5s queued_word=submitted', polls: [] } },
						],
						files: [],
					},
				},
				{
					copies: 1,
					plan: {
						posts: [
							{ answer: '401', task: { directives: 'duration=300s', polls: [] } },
							{ answer: '504json!after', task: { directives: 'duration=20s progress=fast', polls: [] } },
							{ answer: '403', task: { directives: 'duration=0s progress=stuck', polls: [] } },
						],
						files: [],
					},
				},
			],
			sameBodies: true,
			volatilePrompt: true,
			onError: 'continueRegularOutput',
			maxTries: 2,
			submitAgain: 'on',
			concurrentTasks: 2,
			pollIntervalSeconds: 70,
			timeoutMinutes: 10,
			onTimeout: 'return',
			downloadResult: false,
			surviveRestarts: true,
			randomness: 20695145,
		},
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
		name: 'a retry after a crash continues the tasks of the execution before, although n8n has made up a run in between',
		drawn: {
			...PLAIN,
			items: [
				{
					copies: 3,
					plan: {
						posts: [{ answer: 'ok', task: { directives: 'progress=stuck fail=timeout', polls: [] } }],
						files: [],
					},
				},
				{ copies: 1, plan: { posts: [{ answer: '503html', task: { directives: '', polls: [] } }], files: [] } },
			],
			sameBodies: true,
			maxTries: 2,
			retryExecutions: 2,
			submitAgain: 'on',
			concurrentTasks: 1,
			pollIntervalSeconds: undefined,
			timeoutMinutes: 1,
			onTimeout: 'return',
			savesProgress: true,
			crashes: [{ afterSteps: 114, downMs: 100_000 }],
			randomness: 1399341150,
		},
	},
	{
		name: 'a retry that ends while an item announces its request leaves nothing behind that the next try takes for a crash',
		drawn: {
			...PLAIN,
			items: [
				{
					copies: 1,
					plan: {
						posts: [
							{ answer: '403', task: { directives: '', polls: [] } },
							{ answer: 'success_false', task: { directives: '', polls: [] } },
							{
								answer: 'ok',
								task: {
									directives: 'duration=5s result=data hidden=12s created=wrapped fail=generation_failed',
									polls: [],
								},
							},
						],
						files: [],
					},
				},
				{
					copies: 1,
					plan: {
						posts: [
							{ answer: '403', task: { directives: 'duration=0s progress=percent done_word=success', polls: [] } },
						],
						files: [],
					},
				},
				{
					copies: 1,
					plan: {
						posts: [{ answer: '400', task: { directives: 'duration=0s fail=generation_failed', polls: ['502'] } }],
						files: [],
					},
				},
			],
			maxTries: 3,
			retryExecutions: 1,
			concurrentTasks: 2,
			downloadResult: true,
			randomness: 380045807,
		},
	},
	{
		name: 'what n8n hands on when it dies while it passes on what a dead execution has left names every task',
		drawn: {
			...PLAIN,
			items: [
				{ copies: 1, plan: { posts: [], files: [] } },
				{ copies: 1, plan: { posts: [], files: [] } },
			],
			surviveRestarts: true,
			crashes: [
				{ afterSteps: 22, downMs: 1000 },
				{ afterSteps: 3, downMs: 1000 },
			],
			randomness: 1247919262,
		},
	},
	{
		name: 'where n8n cannot record that a run goes on elsewhere, it ends here',
		drawn: {
			...PLAIN,
			items: [item('429:date7')],
			maxTries: 3,
			timeoutMinutes: 60,
			surviveRestarts: true,
			stopAtMs: 14,
			stopDuring: 'while parking',
			savesProgress: true,
			failingRecords: [2, 1],
			purchaseLog: {},
			randomness: 1001044873,
		},
	},
	{
		name: 'a task that a lost worker has bought in the place of one that had failed is not bought once more',
		drawn: {
			...PLAIN,
			items: [
				{
					copies: 1,
					plan: { posts: [{ answer: 'ok', task: { directives: 'fail=generation_failed', polls: [] } }], files: [] },
				},
				{ copies: 1, plan: { posts: [{ answer: '429', task: { directives: '', polls: [] } }], files: [] } },
			],
			maxTries: 2,
			retryExecutions: 2,
			retryOf: 'first',
			concurrentTasks: 2,
			requestsPerSecond: 40,
			surviveRestarts: true,
			engine: 'workers',
			savesProgress: true,
			crashes: [{ afterSteps: 78, downMs: 100000 }],
			purchaseLog: {},
			randomness: 500119221,
			retriesAtOnce: true,
			pollIntervalSeconds: undefined,
		},
	},
	{
		name: 'the retries of two executions of the same millisecond may take one another for the same, and buy nothing twice',
		drawn: {
			...PLAIN,
			items: [item()],
			rounds: 2,
			onError: 'continueRegularOutput',
			maxTries: 2,
			retryExecutions: 1,
			crashes: [{ afterSteps: 8, downMs: 1000 }],
			executions: 2,
			purchaseLog: {},
			randomness: 177662306,
		},
	},
	{
		name: 'what nobody has submitted is in no doubt, although two executions that polled have died one after the other',
		drawn: {
			...PLAIN,
			items: [
				{
					copies: 2,
					plan: { posts: [{ answer: 'ok', task: { directives: 'duration=1000s', polls: [] } }], files: [] },
				},
			],
			concurrentTasks: 1,
			timeoutMinutes: 60,
			surviveRestarts: true,
			crashes: [
				{ afterSteps: 140, downMs: 1000 },
				{ afterSteps: 99, downMs: 1000 },
			],
			randomness: 969865144,
		},
	},
	{
		name: 'of two retries at once that ask at the same moment whether rows are missing, each looks out for the other',
		drawn: {
			items: [
				{ copies: 1, plan: { posts: [{ answer: '402', task: { directives: '', polls: [] } }], files: [] } },
				{
					copies: 1,
					plan: {
						posts: [
							{ answer: '429:200', task: { directives: 'duration=100s result=images', polls: [] } },
							{
								answer: '422~object',
								task: {
									directives: 'duration=20s hidden=3s done_word=succeeded fail=generation_failed failed_word=error',
									polls: ['truncated', '500', 'success_false'],
								},
							},
							{
								answer: 'ok',
								task: {
									directives: 'duration=20s result=data hidden=3s fail=invalid_request fail_as=message',
									polls: ['cut'],
								},
							},
						],
						files: [],
					},
				},
				{
					copies: 1,
					plan: {
						posts: [
							{ answer: '408!after', task: { directives: 'duration=20s', polls: [] } },
							{ answer: 'ok', task: { directives: 'duration=20s created=wrapped', polls: [] } },
						],
						files: [],
					},
				},
				{
					copies: 1,
					plan: {
						posts: [
							{ answer: 'ok', task: { directives: 'duration=300s progress=steps id=odd created=no_id', polls: [] } },
						],
						files: [],
					},
				},
			],
			rounds: 1,
			sameBodies: false,
			volatilePrompt: false,
			onError: 'stopWorkflow',
			maxTries: 2,
			retryExecutions: 2,
			retryOf: 'first',
			submitAgain: 'off',
			concurrentTasks: 2,
			requestsPerSecond: 60,
			pollIntervalSeconds: 70,
			timeoutMinutes: 10,
			onTimeout: 'error',
			whenDone: 'wait',
			downloadResult: false,
			surviveRestarts: true,
			stopAtMs: 33,
			stopDuring: 'inside a wave',
			engine: 'workers',
			savesProgress: false,
			crashes: [],
			failingRecords: [],
			purchaseLog: {},
			executions: 1,
			randomness: 1670997993,
			retriesAtOnce: true,
		},
	},
	{
		name: 'what a lost worker has submitted in waves that n8n has thrown away is not submitted again',
		drawn: {
			...PLAIN,
			items: [
				{
					copies: 1,
					plan: {
						posts: [{ answer: 'ok', task: { directives: '', polls: ['reset', '429:4000', '400'] } }],
						files: [],
					},
				},
				{
					copies: 1,
					plan: {
						posts: [
							{
								answer: '429:3',
								task: {
									directives: 'duration=300s result=images_objects hidden=3s',
									polls: ['429:date6', 'cut', '503html'],
								},
							},
						],
						files: [],
					},
				},
			],
			onError: 'continueRegularOutput',
			maxTries: 2,
			retryExecutions: 1,
			retryOf: 'first',
			concurrentTasks: 2,
			requestsPerSecond: 5,
			pollIntervalSeconds: undefined,
			timeoutMinutes: 3,
			downloadResult: true,
			surviveRestarts: true,
			engine: 'workers',
			savesProgress: true,
			crashes: [{ afterSteps: 244, downMs: 1000 }],
			randomness: 1103531884,
		},
	},
	{
		name: 'a task that a lost worker has bought in the place of one that had failed is in the output, if its ID is in the purchase log',
		drawn: {
			...PLAIN,
			items: [
				{
					copies: 1,
					plan: {
						posts: [{ answer: 'ok', task: { directives: 'fail=internal_error', polls: ['slow:40s'] } }],
						files: [],
					},
				},
			],
			maxTries: 2,
			pollIntervalSeconds: undefined,
			surviveRestarts: true,
			engine: 'workers',
			crashes: [{ afterSteps: 295, downMs: 1000 }],
			purchaseLog: {},
			randomness: 399800190,
		},
	},
	{
		name: 'what a lost worker has sent again, in the place of a task that had failed, is not sent once more',
		drawn: {
			...PLAIN,
			items: [
				{
					copies: 1,
					plan: { posts: [{ answer: 'ok', task: { directives: 'fail=generation_failed', polls: [] } }], files: [] },
				},
				{
					copies: 1,
					plan: { posts: [{ answer: 'ok', task: { directives: '', polls: ['503html', '400'] } }], files: [] },
				},
				{
					copies: 1,
					plan: {
						posts: [
							{ answer: 'ok', task: { directives: 'duration=20s result=video_url case=title', polls: [] } },
							{
								answer: 'ok',
								task: {
									directives: 'duration=5s hidden=12s record=wrapped running_word=running',
									polls: ['slow:40s'],
								},
							},
							{ answer: 'ok', task: { directives: 'duration=1000s', polls: ['dns', 'refused'] } },
						],
						files: [],
					},
				},
				{
					copies: 2,
					plan: {
						posts: [{ answer: 'ok', task: { directives: 'duration=20s result=outputs created=no_id', polls: [] } }],
						files: [],
					},
				},
			],
			sameBodies: true,
			onError: 'continueRegularOutput',
			maxTries: 2,
			retryExecutions: 1,
			retryOf: 'first',
			concurrentTasks: 1,
			requestsPerSecond: 1,
			pollIntervalSeconds: 70,
			timeoutMinutes: 3,
			onTimeout: 'return',
			surviveRestarts: true,
			engine: 'workers',
			crashes: [{ afterSteps: 125, during: 'inside a wave', downMs: 1000 }],
			randomness: 1528652056,
			clicks: [],
		},
	},
	{
		name: 'the waves of a lost worker are found, although the names of its first ones are gone',
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
			surviveRestarts: true,
			engine: 'workers',
			savesProgress: true,
			crashes: [{ afterSteps: 186, downMs: 100000 }],
			randomness: 634030293,
		},
	},
	{
		name: 'Retry On Fail in a retry does not buy what another retry has bought since, although it cannot read the log',
		drawn: {
			...PLAIN,
			items: [
				...[item(), item()],
				{ copies: 1, plan: { posts: [{ answer: 'ok', task: { directives: 'hidden=12s', polls: [] } }], files: [] } },
				{ copies: 1, plan: { posts: [{ answer: 'ok', task: { directives: 'duration=45s', polls: [] } }], files: [] } },
			],
			onError: 'continueErrorOutput',
			maxTries: 5,
			retryExecutions: 2,
			retriesAtOnce: true,
			concurrentTasks: 1,
			crashes: [{ afterSteps: 2, during: 'between row and POST', downMs: 1000 }],
			purchaseLog: {},
			randomness: 636895636,
		},
	},
	{
		name: 'a second retry with items at other places finds what the first one has bought beside the rows of other items',
		drawn: {
			...PLAIN,
			items: [
				{ copies: 1, plan: { posts: [], files: ['html', '404', 'reset', '503'] } },
				{ copies: 1, plan: { posts: [], files: [] } },
			],
			retryExecutions: 2,
			retryOf: 'first',
			itemsMove: true,
			downloadResult: true,
			crashes: [{ afterSteps: 35, downMs: 1000 }],
			purchaseLog: {},
			randomness: 1172249762,
		},
	},
	{
		name: 'a retry that could not read the log looks for another one all the same, when its own row is there',
		drawn: {
			...PLAIN,
			items: [{ copies: 2, plan: { posts: [], files: [] } }],
			maxTries: 2,
			retryExecutions: 2,
			retriesAtOnce: true,
			concurrentTasks: 1,
			downloadResult: true,
			crashes: [{ afterSteps: 2, downMs: 1000 }],
			purchaseLog: { failing: [7, 12, 0] },
			executions: 2,
			randomness: 2010879261,
		},
	},
	...[
		['an answer that names no task', 'status_error'],
		['the failed record of another task', 'failed_other'],
		['the completed record of another task', 'done_other'],
	].map(([what, answer = '']) => ({
		name: `${what} ends no wait, and the task arrives`,
		drawn: { ...PLAIN, items: [task('duration=20s', Array<string>(4).fill(answer)), task('duration=9s', [answer])] },
	})),
	{
		name: 'a failure that names no task is no reason to buy again, whatever tries again',
		drawn: {
			...PLAIN,
			items: [task('duration=9s', ['failed_other', 'status_error', 'error_200', 'code_msg'])],
			...{ maxTries: 3, retryExecutions: 1, timeoutMinutes: 0.2 },
		},
	},
	{
		name: 'a task that is never shown is waited for some minutes, and never bought again',
		drawn: { ...PLAIN, items: [task('duration=9s', [], 'status_error')], maxTries: 2, retryExecutions: 1 },
	},
	{
		name: 'with Submit Again, only a person buys again what is never shown',
		drawn: { ...PLAIN, items: [task('duration=9s', [], 'code_msg')], maxTries: 3, submitAgain: 'on' },
	},
	{
		name: 'a task that is never shown stays the one of its Purchase Key',
		drawn: {
			...PLAIN,
			items: [task('duration=9s', [], 'failed_other')],
			...{ purchaseLog: {}, purchaseKey: true, executions: 2, rounds: 2, sameBodies: true, retryExecutions: 1 },
			onError: 'continueRegularOutput',
		},
	},
	{
		name: 'a task that is never shown is waited for some minutes over all sleeps',
		drawn: {
			...PLAIN,
			items: [task('duration=9s', [], 'error_200')],
			...{ surviveRestarts: true, pollIntervalSeconds: 70, timeoutMinutes: 60, onError: 'continueRegularOutput' },
		},
	},
	{
		name: 'a task that is refused is waited for some minutes over all sleeps',
		drawn: {
			...PLAIN,
			items: [task('duration=1000s', ['ok'], '423')],
			...{ surviveRestarts: true, pollIntervalSeconds: 200, timeoutMinutes: 60, onError: 'continueRegularOutput' },
		},
	},
	{
		name: 'the ID of the service behind is known after a sleep, and in the process that takes over',
		drawn: {
			...PLAIN,
			items: [task('duration=300s ids=behind')],
			...{ surviveRestarts: true, pollIntervalSeconds: 200, timeoutMinutes: 60 },
		},
	},
	{
		name: 'a task arrives whose records have the ID of the service behind',
		drawn: { ...PLAIN, items: [task('duration=45s ids=behind'), task('duration=45s ids=behind record=wrapped')] },
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
		name: 'a task that is being changed is there',
		drawn: { ...PLAIN, items: ['409', '423', '425'].map((status) => task('duration=20s', [status])) },
	},
	{
		name: 'a submission that gets a page was not accepted, and the next try sends it again',
		drawn: {
			...PLAIN,
			items: [item('403html'), item('404text'), item('401html')],
			maxTries: 4,
			concurrentTasks: 1,
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
		name: 'content that is declined is not bought again, whatever tries again',
		drawn: {
			...PLAIN,
			items: ['sensitive_words_detected', 'DataInspectionFailed', 'content_policy_violation'].map((code) =>
				task(`duration=5s fail=${code}`),
			),
			...{ maxTries: 2, retryExecutions: 1, purchaseLog: {} },
		},
	},
	{
		name: 'content that is declined stays the task of its Purchase Key',
		drawn: {
			...PLAIN,
			items: [task('duration=5s fail=sensitive_words_detected'), task('duration=5s fail=moderation_blocked')],
			...{ purchaseLog: {}, purchaseKey: true, executions: 2, rounds: 2, sameBodies: true, retryExecutions: 1 },
			onError: 'continueRegularOutput',
		},
	},
];
