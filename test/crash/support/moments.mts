/**
 * The moments at which n8n ends, and how an execution is brought to each and held there: tasks, polls and files that never
 * end are released when n8n has ended, however long a busy machine takes until then.
 */
import { readPurchases } from '../../n8n/support/purchaseLog.mts';
import { creationsOf, isAsleep, pathOf, tasksOf, type Batch, type Order } from './batch.mts';
import type { RowKey } from './table.mts';
import type { Target } from './target.mts';

export interface Moment {
	/** For names. */
	key: string;
	/** In the names of tests: "n8n is killed …". */
	words: string;
	/** Of the table. */
	row: RowKey;
	/** With how long the service or a node hangs. */
	prompts: (name: string, hang: string) => string[];
	options?: Order['options'];
	hangs?: Order['hangs'];
	places?: Order['places'];
	hasTwoModels?: Order['hasTwoModels'];
	/** The account takes its requests slowly. */
	isSlow?: boolean;
	/** n8n's call that is to wake what sleeps gets no answer. */
	isNotCalled?: boolean;
	/**
	 * `early`: it has to sleep first. `late`: it stays as it is. `awake`: its tasks finish soon. `last`: n8n ends as soon as it
	 * is there, before the node gives up the answer that it waits for (two minutes). `canary`: after all others, so that its first
	 * request leaves within two seconds; on a busy machine, everything is handed over unsent. `moving`: it is held by nothing. Each of the
	 * last two begins when the one before is at its moment.
	 */
	start: 'early' | 'late' | 'awake' | 'last' | 'canary' | 'moving';
	/** True once it is at this moment, held there. */
	isReached: (target: Target, batch: Batch) => boolean | Promise<boolean>;
}

/** Longer than a minute, so that the sub-execution that polls sleeps until then, too. */
const FIRST_CHECK_SECONDS = 76;
/** Behind it, with time for n8n to start again. Where a busy machine takes longer, the poll finds a task that goes on. */
const ASLEEP_SECONDS = 170;

const idOf = (target: Target, batch: Batch, index: number) =>
	String(tasksOf(target, batch).find(({ body }) => body.prompt === batch.prompts[index])?.id);
const asksFor = (target: Target, id: string) =>
	target.sandbox.requests.some(({ method, path }) => method === 'GET' && path.includes(id));
const loads = (target: Target, part: string) => target.sandbox.fileRequests.some(({ path }) => path.includes(part));
const areAccepted = (target: Target, batch: Batch) => tasksOf(target, batch).length === batch.prompts.length;
/** n8n has read the answers, too. */
const isKnown = (target: Target, batch: Batch) => {
	const log = target.log();
	return tasksOf(target, batch).every(({ id }) => log.includes(id));
};
const areLogged = (target: Target, batch: Batch) => areAccepted(target, batch) && isKnown(target, batch);
/** By then an execution that survives sleeps, and IDs are in the log, but not where five n8n share two processors: so both are asked for. */
const areOld = async (target: Target, batch: Batch) =>
	(await areSaved(target, batch)) && (!batch.survives || (await isAsleep(target, batch)));
const areSaved = async (target: Target, batch: Batch) =>
	tasksOf(target, batch).every(({ acceptedAt }) => acceptedAt < Date.now() - 3_000) &&
	(!batch.logs || (await areInLog(target, batch)));

/** The IDs of all that n8n has been told of. */
async function areInLog(target: Target, batch: Batch): Promise<boolean> {
	const logged = new Set((await readPurchases(target)).map(({ task_id: id }) => id));
	return tasksOf(target, batch).every(({ id, body }) => logged.has(id) || String(body.prompt).includes('!after'));
}

export const moments: Moment[] = [
	{
		key: 'before',
		words: 'before the first creating request, in an earlier node',
		row: 'before',
		prompts: (name) => [`${name} 1 [[sandbox duration=2s]]`, `${name} 2 [[sandbox duration=2s]]`],
		hangs: 'before',
		start: 'late',
		isReached: (target, batch) => loads(target, pathOf(batch)),
	},
	{
		key: 'request',
		words: 'after the first creating request was sent, before the service has accepted it',
		row: 'first',
		prompts: (name, hang) => [`${name} [[sandbox duration=2s create=slow:${hang}]]`],
		start: 'canary',
		isReached: (target, batch) => creationsOf(target, batch).length === 1,
	},
	{
		key: 'answer',
		words: 'after the service has accepted it, before its answer has arrived',
		row: 'first',
		prompts: (name, hang) => [`${name} [[sandbox duration=2s create=slow:${hang}!after]]`],
		start: 'canary',
		isReached: areAccepted,
	},
	{
		key: 'between',
		words: 'after the first item of one model was accepted, and before that of another one is',
		row: 'first',
		prompts: (name, hang) => [
			`${name} 1 [[sandbox duration=2s]]`,
			`${name} 2 [[sandbox duration=2s model=any create=slow:${hang}]]`,
			`${name} 3 [[sandbox duration=2s]]`,
		],
		hasTwoModels: true,
		start: 'canary',
		// With Across Restarts, the third one is submitted when all have fallen asleep.
		isReached: async (target, batch) =>
			creationsOf(target, batch).length >= (batch.survives ? 2 : 3) && (await areSaved(target, batch)),
	},
	{
		key: 'submitting',
		words: 'while rows are written, requests leave and answers arrive',
		row: 'rest',
		prompts: (name) => Array.from({ length: 50 }, (_, item) => `${name} ${item + 1} [[sandbox duration=never]]`),
		isSlow: true,
		start: 'moving',
		isReached: (target, batch) => tasksOf(target, batch).length >= 6,
	},
	{
		key: 'unanswered',
		words: 'while no place is free, when one request was not accepted, and of one the answer is missing',
		row: 'rest',
		prompts: (name, hang) =>
			['1', '2', '3', '4', `5 create=slow:${hang}`, `6 create=slow:${hang}!after`, '7', '8'].map(
				(item) => `${name} ${item[0]} [[sandbox duration=${Number(item[0]) > 4 ? '2s' : 'never'}${item.slice(1)}]]`,
			),
		places: 6,
		start: 'last',
		isReached: async (target, batch) =>
			creationsOf(target, batch).length === 6 && tasksOf(target, batch).length === 5 && (await areOld(target, batch)),
	},
	{
		key: 'accepted',
		words: 'three seconds or more after the service has accepted all tasks',
		row: 'asleep',
		prompts: (name) => [`${name} 1 [[sandbox duration=never]]`, `${name} 2 [[sandbox duration=never]]`],
		start: 'last',
		isReached: async (target, batch) => areLogged(target, batch) && (await areOld(target, batch)),
	},
	{
		key: 'parked',
		words: 'after all have fallen asleep, while n8n calls itself to wake one',
		row: 'asleep',
		prompts: (name) => [`${name} 1 [[sandbox duration=never]]`, `${name} 2 [[sandbox duration=never]]`],
		isNotCalled: true,
		start: 'late',
		isReached: (target, batch) =>
			batch.survives ? target.door.heldCall(batch.workflowId) !== undefined : areLogged(target, batch),
	},
	{
		key: 'full',
		words: 'while no place is free, and nothing else is under way',
		row: 'asleep',
		prompts: (name) =>
			[1, 2, 3, 4, 5, 6].map((item) => `${name} ${item} [[sandbox duration=${item > 3 ? '2s' : 'never'}]]`),
		places: 3,
		start: 'last',
		isReached: async (target, batch) =>
			tasksOf(target, batch).length === 3 && isKnown(target, batch) && (await areOld(target, batch)),
	},
	{
		key: 'minute',
		words: 'while the next poll is near (awake)',
		row: 'asleep',
		prompts: (name) => [`${name} 1 [[sandbox duration=2s]]`, `${name} 2 [[sandbox duration=never]]`],
		start: 'awake',
		// While the row of an answer is still to be written, its item is in doubt: that is the moment `submitting`.
		isReached: async (target, batch) =>
			areAccepted(target, batch) &&
			loads(target, idOf(target, batch, 0)) &&
			(!batch.logs || (await areInLog(target, batch))),
	},
	{
		key: 'asleep',
		words: 'while all sleep',
		row: 'asleep',
		prompts: (name) => [`${name} 1 [[sandbox duration=never]]`, `${name} 2 [[sandbox duration=never]]`],
		options: { pollIntervalSeconds: ASLEEP_SECONDS },
		start: 'early',
		isReached: async (target, batch) => !batch.survives || (await isAsleep(target, batch)),
	},
	{
		key: 'checking',
		words: 'during a poll',
		row: 'asleep',
		prompts: (name, hang) => [`${name} 1`, `${name} 2 [[sandbox poll=slow:${hang}*all]]`],
		options: { pollIntervalSeconds: FIRST_CHECK_SECONDS },
		start: 'early',
		isReached: (target, batch) => asksFor(target, idOf(target, batch, 1)),
	},
	{
		key: 'downloading',
		words: 'during a download',
		row: 'asleep',
		prompts: (name) => [`${name} 1`, `${name} 2 [[sandbox bytes=1 bytes_per_second=3000]]`],
		options: { pollIntervalSeconds: FIRST_CHECK_SECONDS },
		start: 'early',
		isReached: (target, batch) => loads(target, idOf(target, batch, 1)),
	},
	{
		key: 'resumed',
		words: 'after the results have arrived, in a later node',
		row: 'resumed',
		prompts: (name) => [`${name} 1`, `${name} 2`],
		options: { pollIntervalSeconds: FIRST_CHECK_SECONDS - 8 },
		hangs: 'behind',
		start: 'early',
		isReached: (target, batch) => loads(target, pathOf(batch)),
	},
];
