/** The sentences on how to continue: what each of them names, in every situation. "…" stands for any words. */
import type { Situation } from '../../core/errors/entry';
import * as recovery from '../../core/errors/recovery';
import { textLike } from './support';

const alone: Situation = { operation: 'generate', recovery: 'retry' };
const ofItem: Situation = { ...alone, recovery: 'runAgain' };
const ofAgent: Situation = { ...alone, recovery: 'callAgain' };
const called: Situation = { ...alone, subExecution: '77' };
const batch: Situation = { ...alone, others: 2, unsubmitted: 1 };
const reading: Situation = { ...alone, operation: 'getTask' };
const upload: Situation = { ...alone, operation: 'upload' };
const credentialTest: Situation = { ...alone, operation: '' };
const atMs = Date.UTC(2026, 0, 31, 14, 5);

const PAYS = 'Running this node again… creates a new task, and you pay again.';
const BESIDE_RETRY = 'Running this node again or Debug in editor creates a new task, and you pay again.';
const RETRY = 'this execution in the Executions list';
const WITH_CHANGES = 'save, and in the Executions list choose Retry with currently saved workflow';
const CONTINUES = 'it continues the task and costs nothing, unless the request changed';
const REST = 'the 2 other tasks continue and cost nothing, and 1 item is submitted';
const NEW_WORKFLOW = 'create a new workflow…';

type Named = keyof typeof recovery;
type Row = [name: Named, situation: Situation, text: string, ...more: unknown[]];

/** Arguments that follow the situation stand behind the text. */
const ROWS: Row[] = [
	['retryRest', batch, `Then retry ${RETRY}: ${REST}.`],
	['retryRest', { ...batch, subExecution: '77' }, `Then retry execution 77 of this workflow …: ${REST}.`],
	[
		'retryRest',
		{ ...batch, others: 1, unsubmitted: 3 },
		'…: the other task continues and costs nothing, and 3 items are submitted.',
	],
	['retryRest', { ...batch, others: 0 }, `Then retry ${RETRY}: 1 item is submitted.`],
	['retryRest', { ...upload, others: 1 }, '…: the other request is not sent again.'],
	[
		'retryRest',
		{ ...upload, others: 3, unsubmitted: 2 },
		'…: the 3 other requests are not sent again, and 2 items are submitted.',
	],
	['retryRestWithChanges', batch, `Then ${WITH_CHANGES}: ${REST}.`],
	[
		'retryRestWithChanges',
		{ ...batch, subExecution: '77' },
		`Then ${WITH_CHANGES} for execution 77 of this workflow: ${REST}.`,
	],
	[
		'retryRestPastError',
		batch,
		`To get the rest, set On Error to Continue (using error output), ${WITH_CHANGES}: ${REST}.`,
	],

	[
		'stopCalling',
		ofAgent,
		'Stop: do not call this tool again. The budget is used up, so every further call will be refused, too. ',
		'The budget is used up',
	],
	['stopCalling', ofItem, '', 'The budget is used up'],

	['buysAgain', alone, ` ${BESIDE_RETRY}`],
	[
		'buysAgain',
		called,
		' Running this node again, Debug in editor, or retrying the workflow that called this one creates a new task, and you pay again.',
	],
	['buysAgain', ofItem, ' Running this node again creates a new task, and you pay again.'],
	['buysAgain', ofAgent, ' Calling Generate again creates a new task, and you pay again.'],
	['buysAgain', reading, ''],

	[
		'withNode',
		ofAgent,
		'call a tool for Get Task with this ID. If you have none, tell the user the ID',
		'Get Task',
		'this ID',
	],
	['withNode', alone, 'create a new workflow: a trigger, and behind it Get Task with this ID', 'Get Task', 'this ID'],

	[
		'waitOn',
		alone,
		`Retry ${RETRY}: ${CONTINUES}. If n8n offers no retry, ${NEW_WORKFLOW}Wait for Task with this task ID. ${BESIDE_RETRY}`,
	],
	[
		'waitOn',
		{ ...alone, others: 1 },
		`Retry ${RETRY}: it continues the task and the other one, and costs nothing, unless the request changed.`,
	],
	[
		'waitOn',
		batch,
		`Retry ${RETRY}: it continues the task and the 2 others, and costs nothing, unless the request changed; 1 item is submitted.`,
	],
	[
		'waitOn',
		reading,
		`Retry ${RETRY}: that costs nothing. If n8n offers no retry, ${NEW_WORKFLOW}Wait for Task with this task ID.`,
	],
	['waitOn', ofItem, `To get its result, ${NEW_WORKFLOW}Wait for Task with this task ID. ${PAYS.replace('…', '')}`],
	[
		'waitOn',
		{ ...ofItem, others: 2 },
		`To get its result, ${NEW_WORKFLOW}Wait for Task with this task ID. ${PAYS.replace('…', '')}`,
	],
	['waitOn', ofAgent, 'To get its result, call a tool for Wait for Task with this task ID. … Calling Generate again …'],
	['getFile', alone, `Retry ${RETRY}: ${CONTINUES}. ${BESIDE_RETRY}`],
	['getFile', batch, `Retry ${RETRY}: it continues the task and the 2 others, …; 1 item is submitted.`],
	[
		'getFile',
		ofItem,
		`To get only the file, ${NEW_WORKFLOW}Get Task with this task ID and Download Result turned on. ${PAYS.replace('…', '')}`,
	],
	['thenWaitOn', alone, `Then retry ${RETRY}: ${CONTINUES}. ${BESIDE_RETRY}`],
	['thenWaitOn', ofItem, `Then ${NEW_WORKFLOW}Wait for Task with this task ID. …`],
	['thenGetFile', alone, `Then retry ${RETRY}: ${CONTINUES}. ${BESIDE_RETRY}`],
	['thenGetFile', ofItem, `Then ${NEW_WORKFLOW}Get Task with this task ID and Download Result turned on. …`],
	['readAgain', alone, `enter its path as Result Path in the options, ${WITH_CHANGES}: ${CONTINUES}.`, 'its path'],
	[
		'readAgain',
		ofItem,
		`${NEW_WORKFLOW}Get Task with this task ID and its path as Result Path in the options. ${PAYS.replace('…', '')}`,
		'its path',
	],

	[
		'waitForAsset',
		upload,
		`Retry ${RETRY}: that does not upload the file again. If n8n offers no retry, ${NEW_WORKFLOW}Asset → Wait for Asset with this asset ID. Running this node again uploads the file again.`,
	],
	[
		'waitForAsset',
		{ ...upload, recovery: 'runAgain' },
		`To use it, ${NEW_WORKFLOW}Wait for Asset with this asset ID. Running this node again uploads the file again.`,
	],
	[
		'waitForAsset',
		{ ...upload, operation: 'wait' },
		`Retry ${RETRY}: that costs nothing. If n8n offers no retry, ${NEW_WORKFLOW}with this asset ID.`,
	],

	['tryLater', credentialTest, 'Try again later.'],
	['tryLater', alone, `Retry ${RETRY} later.`],
	['tryLater', batch, `Retry ${RETRY} later: ${REST}.`],
	['tryLater', ofItem, 'Run only this item again later.'],
	['tryLater', ofAgent, 'Call this tool again later.'],
	['thenTryAgain', alone, ` Then retry ${RETRY}.`],
	['thenTryAgain', batch, ''],
	['thenTryAgain', { ...batch, recovery: 'runAgain' }, ' Then run only this item again.'],
	['thenTryAgain', ofAgent, ' Then call this tool again.'],
	['thenTryAgainWithRest', credentialTest, ' Then try again.'],
	['thenTryAgainWithRest', alone, ` Then retry ${RETRY}.`],
	['thenTryAgainWithRest', batch, ` Then retry ${RETRY}: ${REST}.`],
	['thenTryAgainWithRest', { ...batch, unclear: 2 }, ` Then retry ${RETRY}: ${REST}, and 2 stay unclear.`],
	['thenTryAgainWithRest', { ...batch, unsubmitted: 0, unclear: 1 }, '…, and 1 item stays unclear.'],
	['thenRetryWithChanges', alone, ` Then ${WITH_CHANGES}.`],
	['thenRetryWithChanges', batch, ''],
	['thenRetryWithChanges', ofItem, ' Then run only this item again.'],
	['createAgain', alone, `To try again, retry ${RETRY}: that creates a new task, and you pay again.`],
	['createAgain', batch, `To try again, retry ${RETRY}: that creates a new task, and you pay again; ${REST}.`],
	['createAgain', reading, 'To try again, create a new task with Generate.'],
];

/** Of things: what stands behind the situation is the time of the request. */
const OF_THINGS: Array<
	[thing: 'task' | 'token' | 'asset' | 'group', situation: Situation, text: string, atMs?: number]
> = [
	[
		'task',
		alone,
		`Look in the task list of your account for a task created around 14:05 UTC. If there is none, turn on Submit Again in the options, ${WITH_CHANGES}. Running this node again creates every task again, and you pay again.`,
		atMs,
	],
	['task', alone, '… a task created then. If there is none, …'],
	['task', called, `…, ${WITH_CHANGES} for execution 77 of this workflow. …`],
	[
		'task',
		batch,
		`If your account has no task of 14:05 UTC, turn on Submit Again, else set On Error to Continue. S${WITH_CHANGES.slice(1)}: ${REST}.`,
		atMs,
	],
	['task', batch, 'If your account has no task of that time, …'],
	[
		'task',
		{ ...batch, unclear: 2 },
		`If your account has no tasks of around 14:05 UTC for these 3 items, turn on Submit Again, … S${WITH_CHANGES.slice(1)}: ${REST}.`,
		atMs,
	],
	[
		'task',
		{ ...alone, unclear: 1 },
		`If your account has no tasks of that time for these 2 items, turn on Submit Again, else set On Error to Continue. S${WITH_CHANGES.slice(1)}.`,
	],
	['task', { ...ofItem, unclear: 1 }, 'Look … If there is none, run only this item again.'],
	['task', ofItem, 'Look … If there is none, run only this item again.'],
	['task', { ...ofItem, others: 2 }, 'Look … If there is none, run only this item again.'],
	['task', ofAgent, 'Look … If there is none, call this tool again.'],
	[
		'token',
		alone,
		'Look in the API key list … for an API key created then. … Running this node again creates every API key again.',
	],
	['asset', alone, '… for an asset created then. …'],
	['group', alone, '… for a group created then. …'],
];

test.each(ROWS)('%s in the situation %j says: %s', (name, situation, text, ...more) => {
	const say = recovery[name] as (...values: unknown[]) => string;
	expect(say(situation, ...more)).toMatch(textLike(text));
});

test.each(OF_THINGS)(
	'whoever does not know if a %s was created decides in the situation %j: %s',
	(thing, situation, text, ...time) => {
		expect(recovery.decideYourself(thing, situation, ...time)).toMatch(textLike(text));
	},
);

test.each([
	['task', 'Get Task …'],
	['token', '… delete it …'],
	['verification', 'Get Verification …'],
	['group', 'The avatar group can be used …'],
	['asset', 'Get Asset …'],
] as const)(
	'after a %s of another request it is said what its ID is good for, and how to get another one',
	(thing, use) => {
		expect(recovery.decideAgain(thing, alone)).toMatch(
			textLike(`${use}. If you want another one of this request, turn on Submit Again …`),
		);
	},
);
