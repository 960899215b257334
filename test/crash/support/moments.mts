/** The moments at which n8n ends, and how an execution is brought to each and held there. */
import { executionsOfBatch, pathOf, tasksOf, type Batch, type Order } from './batch.mts';
import type { Target } from './target.mts';

export interface Moment {
	/** For names. */
	key: string;
	/** In the table: "n8n is killed …". */
	words: string;
	/** With how long the service or a node hangs. */
	prompts: (name: string, hang: string) => string[];
	options?: Order['options'];
	hangs?: Order['hangs'];
	/**
	 * `early`: it has to sleep first. `late`: the service would not be waited for so long. `awake`: its tasks finish
	 * soon, so all others are held before. `last`: n8n ends as soon as it is there.
	 */
	start: 'early' | 'late' | 'awake' | 'last';
	/** True once it is at this moment, held there. */
	isReached: (target: Target, batch: Batch) => boolean | Promise<boolean>;
}

/** Longer than a minute, so that the sub-execution that polls sleeps until then, too. */
const FIRST_CHECK_SECONDS = 76;
/** Behind it, with time for n8n to start again. */
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
const areLogged = (target: Target, batch: Batch) =>
	areAccepted(target, batch) && tasksOf(target, batch).every(({ id }) => target.log().includes(id));

export const moments: Moment[] = [
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
		start: 'late',
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
		start: 'late',
		isReached: (target, batch) => creations(target, batch).length === 3 && tasksOf(target, batch).length === 2,
	},
	{
		key: 'answer',
		words: 'after the service has accepted it, before its answer has arrived',
		prompts: (name, hang) => [`${name} [[sandbox duration=2s create=slow:${hang}!after]]`],
		start: 'late',
		isReached: areAccepted,
	},
	{
		key: 'accepted',
		// A second is enough, but not where five n8n share two processors.
		words: 'three seconds after the service has accepted all tasks',
		prompts: (name) => [`${name} 1 [[sandbox duration=90s]]`, `${name} 2 [[sandbox duration=90s]]`],
		start: 'last',
		isReached: async (target, batch) =>
			areLogged(target, batch) && tasksOf(target, batch).every(({ acceptedAt }) => acceptedAt < Date.now() - 3_000),
	},
	{
		key: 'minute',
		words: 'while the next poll is near (awake)',
		prompts: (name) => [`${name} 1 [[sandbox duration=2s]]`, `${name} 2 [[sandbox duration=90s]]`],
		start: 'awake',
		isReached: async (target, batch) => areAccepted(target, batch) && loads(target, idOf(target, batch, 0)),
	},
	{
		key: 'asleep',
		words: 'while all sleep',
		prompts: (name) => [`${name} 1`, `${name} 2`],
		options: { pollIntervalSeconds: ASLEEP_SECONDS },
		start: 'early',
		isReached: async (target, batch) =>
			!batch.survives || (await executionsOfBatch(target, batch))[0]?.status === 'waiting',
	},
	{
		key: 'checking',
		words: 'during a poll',
		prompts: (name, hang) => [`${name} 1`, `${name} 2 [[sandbox poll=slow:${hang}]]`],
		options: { pollIntervalSeconds: FIRST_CHECK_SECONDS },
		start: 'early',
		isReached: (target, batch) => asksFor(target, idOf(target, batch, 1)),
	},
	{
		key: 'downloading',
		words: 'during a download',
		prompts: (name) => [`${name} 1`, `${name} 2 [[sandbox bytes=1 bytes_per_second=20000]]`],
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
