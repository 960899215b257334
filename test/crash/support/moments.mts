/**
 * The moments at which n8n ends, and how an execution is brought to each and held there: tasks, polls and files that never
 * end are released when n8n has ended, however long a busy machine takes until then.
 */
import { readPurchases } from '../../n8n/support/purchaseLog.mts';
import { isAsleep, pathOf, tasksOf, type Batch, type Order } from './batch.mts';
import type { Target, Victim } from './target.mts';

export interface Moment {
	/** For names. */
	key: string;
	/** In the table: "n8n is killed …". */
	words: string;
	/** With how long the service or a node hangs. */
	prompts: (name: string, hang: string) => string[];
	options?: Order['options'];
	hangs?: Order['hangs'];
	places?: Order['places'];
	/** n8n's call that is to wake what sleeps gets no answer. */
	isNotCalled?: boolean;
	/** Tried with n8n as one process only. */
	isForOneProcess?: boolean;
	/**
	 * `early`: it has to sleep first. `late`: it stays as it is. `awake`: its tasks finish soon. `last`: n8n ends as soon as it
	 * is there, before the node gives up the answer that it waits for (two minutes).
	 */
	start: 'early' | 'late' | 'awake' | 'last';
	/** True once it is at this moment, held there. */
	isReached: (target: Target, batch: Batch) => boolean | Promise<boolean>;
}

/** Longer than a minute, so that the sub-execution that polls sleeps until then, too. */
const FIRST_CHECK_SECONDS = 76;
/** Behind it, with time for n8n to start again. Where a busy machine takes longer, the poll finds a task that goes on. */
const ASLEEP_SECONDS = 170;

const creations = ({ sandbox }: Target, { prompts }: Batch) =>
	sandbox.requests.filter(
		({ method, body }) =>
			method === 'POST' && prompts.includes(String((body as { prompt?: unknown } | undefined)?.prompt)),
	);
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
	tasksOf(target, batch).every(({ acceptedAt }) => acceptedAt < Date.now() - 3_000) &&
	(!batch.survives || (await isAsleep(target, batch))) &&
	(!batch.logs || (await areInLog(target, batch)));

/** The IDs of all that n8n has been told of. */
async function areInLog(target: Target, batch: Batch): Promise<boolean> {
	const logged = new Set((await readPurchases(target)).map(({ task_id: id }) => id));
	return tasksOf(target, batch).every(({ id, body }) => logged.has(id) || String(body.prompt).includes('!after'));
}

const all: Moment[] = [
	{
		key: 'before',
		words: 'before the first creating request, in an earlier node',
		prompts: (name) => [`${name} 1 [[sandbox duration=2s]]`, `${name} 2 [[sandbox duration=2s]]`],
		hangs: 'before',
		start: 'late',
		isReached: (target, batch) => loads(target, pathOf(batch)),
	},
	{
		key: 'request',
		words: 'after the first creating request was sent, before the service has accepted it',
		prompts: (name, hang) => [`${name} [[sandbox duration=2s create=slow:${hang}]]`],
		start: 'last',
		isReached: (target, batch) => creations(target, batch).length === 1,
	},
	{
		key: 'between',
		words: 'between the acceptances of a batch',
		prompts: (name, hang) => [
			`${name} 1 [[sandbox duration=2s]]`,
			`${name} 2 [[sandbox duration=2s create=slow:${hang}]]`,
			`${name} 3 [[sandbox duration=2s]]`,
		],
		start: 'last',
		isReached: (target, batch) => creations(target, batch).length === 3 && tasksOf(target, batch).length === 2,
	},
	{
		key: 'answer',
		words: 'after the service has accepted it, before its answer has arrived',
		prompts: (name, hang) => [`${name} [[sandbox duration=2s create=slow:${hang}!after]]`],
		start: 'last',
		isReached: areAccepted,
	},
	{
		key: 'accepted',
		words: 'three seconds or more after the service has accepted all tasks',
		prompts: (name) => [`${name} 1 [[sandbox duration=never]]`, `${name} 2 [[sandbox duration=never]]`],
		start: 'last',
		isReached: async (target, batch) => areLogged(target, batch) && (await areOld(target, batch)),
	},
	{
		key: 'parked',
		words: 'after all have fallen asleep, while n8n calls itself to wake one',
		prompts: (name) => [`${name} 1 [[sandbox duration=never]]`, `${name} 2 [[sandbox duration=never]]`],
		isNotCalled: true,
		isForOneProcess: true,
		start: 'late',
		isReached: (target, batch) =>
			batch.survives ? target.door.heldCall(batch.workflowId) !== undefined : areLogged(target, batch),
	},
	{
		key: 'betweenWaves',
		words: 'between two waves, while no place is free',
		prompts: (name) =>
			[1, 2, 3, 4, 5, 6].map((item) => `${name} ${item} [[sandbox duration=${item > 3 ? '2s' : 'never'}]]`),
		places: 3,
		start: 'last',
		isReached: async (target, batch) =>
			tasksOf(target, batch).length === 3 && isKnown(target, batch) && (await areOld(target, batch)),
	},
	{
		key: 'inWave',
		words: 'in the middle of the second wave, when one of it was accepted, one not, and of one the answer is missing',
		prompts: (name, hang) =>
			['1', '2', '3', '4', `5 create=slow:${hang}`, `6 create=slow:${hang}!after`].map(
				(item) => `${name} ${item[0]} [[sandbox duration=2s${item.slice(1)}]]`,
			),
		places: 3,
		start: 'awake',
		isReached: async (target, batch) =>
			creations(target, batch).length === 6 && tasksOf(target, batch).length === 5 && (await areOld(target, batch)),
	},
	{
		key: 'minute',
		words: 'while the next poll is near (awake)',
		prompts: (name) => [`${name} 1 [[sandbox duration=2s]]`, `${name} 2 [[sandbox duration=never]]`],
		start: 'awake',
		isReached: async (target, batch) => areAccepted(target, batch) && loads(target, idOf(target, batch, 0)),
	},
	{
		key: 'asleep',
		words: 'while all sleep',
		prompts: (name) => [`${name} 1 [[sandbox duration=never]]`, `${name} 2 [[sandbox duration=never]]`],
		options: { pollIntervalSeconds: ASLEEP_SECONDS },
		start: 'early',
		isReached: async (target, batch) => !batch.survives || (await isAsleep(target, batch)),
	},
	{
		key: 'checking',
		words: 'during a poll',
		prompts: (name, hang) => [`${name} 1`, `${name} 2 [[sandbox poll=slow:${hang}*all]]`],
		options: { pollIntervalSeconds: FIRST_CHECK_SECONDS },
		start: 'early',
		isReached: (target, batch) => asksFor(target, idOf(target, batch, 1)),
	},
	{
		key: 'downloading',
		words: 'during a download',
		prompts: (name) => [`${name} 1`, `${name} 2 [[sandbox bytes=1 bytes_per_second=3000]]`],
		options: { pollIntervalSeconds: FIRST_CHECK_SECONDS },
		start: 'early',
		isReached: (target, batch) => loads(target, idOf(target, batch, 1)),
	},
	{
		key: 'resumed',
		words: 'after the results have arrived, in a later node',
		prompts: (name) => [`${name} 1`, `${name} 2`],
		options: { pollIntervalSeconds: FIRST_CHECK_SECONDS - 8 },
		hangs: 'behind',
		start: 'early',
		isReached: (target, batch) => loads(target, pathOf(batch)),
	},
];

export const momentsOf = (victim: Victim) => all.filter(({ isForOneProcess }) => victim === 'n8n' || !isForOneProcess);
