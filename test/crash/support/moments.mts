/** The moments at which n8n ends, and how an execution is brought to each and held there. */
import { itemsOf } from '../../../tools/n8n/executions.mjs';
import type { Instance } from '../../n8n/support/instance.mts';
import { executionsOfBatch, pathOf, tasksOf, type Batch, type Order } from './batch.mts';

export interface Moment {
	/** For names. */
	key: string;
	/** In the table: "n8n ends …". */
	words: string;
	prompts: (name: string) => string[];
	options?: Order['options'];
	hangs?: Order['hangs'];
	/**
	 * `early`: it has to sleep first. `late`: the service would not be waited for so long.
	 * `last`: n8n ends as soon as it is there.
	 */
	start: 'early' | 'late' | 'last';
	/** Whether it is held there. */
	isReached: (instance: Instance, batch: Batch) => boolean | Promise<boolean>;
}

/** Longer than a minute, so that it is slept through in the database. */
const FIRST_CHECK_SECONDS = 76;
/** Behind it, with time for n8n to start again. */
const ASLEEP_SECONDS = 170;

const creations = ({ sandbox }: Instance, { prompts }: Batch) =>
	sandbox.requests.filter(({ method, body }) => method === 'POST' && prompts.includes(String((body as { prompt?: unknown } | undefined)?.prompt)));
const idOf = (instance: Instance, batch: Batch, index: number) => String(tasksOf(instance, batch).find(({ body }) => body.prompt === batch.prompts[index])?.id);
const asksFor = (instance: Instance, id: string) => instance.sandbox.requests.some(({ method, path }) => method === 'GET' && path.includes(id));
const loads = (instance: Instance, part: string) => instance.sandbox.fileRequests.some(({ path }) => path.includes(part));
const areAccepted = (instance: Instance, batch: Batch) => tasksOf(instance, batch).length === batch.prompts.length;

export const moments: Moment[] = [
	{
		key: 'before',
		words: 'before the first creating request, in an earlier node',
		prompts: (name) => [`${name} 1 [[sandbox duration=2s]]`, `${name} 2 [[sandbox duration=2s]]`],
		hangs: 'before',
		start: 'late',
		isReached: (instance, batch) => loads(instance, pathOf(batch)),
	},
	{
		key: 'request',
		words: 'after the first creating request was sent, before the service has accepted it',
		prompts: (name) => [`${name} [[sandbox duration=2s create=slow:never]]`],
		start: 'late',
		isReached: (instance, batch) => creations(instance, batch).length === 1,
	},
	{
		key: 'between',
		words: 'between the acceptances of a batch',
		prompts: (name) => [`${name} 1 [[sandbox duration=2s]]`, `${name} 2 [[sandbox duration=2s create=slow:never]]`, `${name} 3 [[sandbox duration=2s]]`],
		start: 'late',
		isReached: (instance, batch) => creations(instance, batch).length === 3 && tasksOf(instance, batch).length === 2,
	},
	{
		key: 'answer',
		words: 'after the service has accepted it, before its answer has arrived',
		prompts: (name) => [`${name} [[sandbox duration=2s create=slow:never!after]]`],
		start: 'late',
		isReached: areAccepted,
	},
	{
		key: 'started',
		words: 'as soon as the sub-execution shows its input',
		prompts: (name) => [`${name} 1 [[sandbox duration=50s]]`, `${name} 2 [[sandbox duration=50s]]`],
		start: 'last',
		isReached: async (instance, batch) => areAccepted(instance, batch) && (!batch.survives || (await executionsOfBatch(instance, batch)).some((execution) => itemsOf(execution, 'Start').length > 0)),
	},
	{
		key: 'minute',
		words: 'in the first minute of the wait',
		prompts: (name) => [`${name} 1 [[sandbox duration=2s]]`, `${name} 2 [[sandbox duration=55s]]`],
		start: 'late',
		isReached: async (instance, batch) => areAccepted(instance, batch) && loads(instance, idOf(instance, batch, 0)),
	},
	{
		key: 'asleep',
		words: 'later in the wait (asleep)',
		prompts: (name) => [`${name} 1`, `${name} 2`],
		options: { pollIntervalSeconds: ASLEEP_SECONDS },
		start: 'early',
		isReached: async (instance, batch) => !batch.survives || (await executionsOfBatch(instance, batch))[0]?.status === 'waiting',
	},
	{
		key: 'checking',
		words: 'during a check',
		prompts: (name) => [`${name} 1`, `${name} 2 [[sandbox poll=slow:never]]`],
		options: { pollIntervalSeconds: FIRST_CHECK_SECONDS },
		start: 'early',
		isReached: (instance, batch) => asksFor(instance, idOf(instance, batch, 1)),
	},
	{
		key: 'downloading',
		words: 'during a download',
		prompts: (name) => [`${name} 1`, `${name} 2 [[sandbox bytes=1 bytes_per_second=30000]]`],
		options: { pollIntervalSeconds: FIRST_CHECK_SECONDS },
		start: 'early',
		isReached: (instance, batch) => loads(instance, idOf(instance, batch, 1)),
	},
	{
		key: 'resumed',
		words: 'after the results have arrived, in a later node',
		prompts: (name) => [`${name} 1`, `${name} 2`],
		options: { pollIntervalSeconds: FIRST_CHECK_SECONDS - 8 },
		hangs: 'behind',
		start: 'early',
		isReached: (instance, batch) => loads(instance, pathOf(batch)),
	},
];
