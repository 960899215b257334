/** The processes to end and start again: n8n as one process, or in queue mode the worker or the main process. */
import { readFileSync } from 'node:fs';
import { startDoor, type Door } from '../../n8n/support/door.mts';
import { endN8n, startInstance, type Instance, type Signal } from '../../n8n/support/instance.mts';
import { pause } from '../../n8n/support/until.mts';
import { NOTICED_WITHIN_MS, NOTICES_SOON, startCluster } from '../../queue/support/cluster.mts';

export type Victim = 'n8n' | 'worker' | 'main';

export type Target = Pick<Instance, 'rest' | 'sandbox' | 'credential' | 'close' | 'restart'> & {
	victim: Victim;
	/** Through which n8n calls itself. */
	door: Door;
	/** Of n8n. */
	url: string;
	/** All that n8n has logged. */
	log: () => string;
	end: (signal: Signal) => Promise<void>;
};

/** Enough for all executions of a test at the same time. */
const CONCURRENCY = 60;

export async function startTarget(victim: Victim): Promise<Target> {
	const door = await startDoor();
	const env = { WEBHOOK_URL: door.url };
	try {
		const target = victim === 'n8n' ? await startOne(env) : await startQueue(victim, env);
		door.open(target.url, async (id) =>
			String((await target.rest.request('GET', `/rest/executions/${id}`)).workflowId),
		);
		const close = async () => {
			await target.close();
			door.close();
		};
		return { ...target, victim, door, close };
	} catch (error) {
		door.close();
		throw error;
	}
}

type Started = Omit<Target, 'victim' | 'door'>;

async function startOne(env: Record<string, string>): Promise<Started> {
	const { n8n, rest, sandbox, credential, close, end, restart } = await startInstance({ env });
	const log = () => readFileSync(n8n.logFile, 'utf8');
	return { rest, sandbox, credential, close, end, restart, url: n8n.url, log };
}

async function startQueue(victim: 'worker' | 'main', env: Record<string, string>): Promise<Started> {
	const { main, workers, rest, sandbox, credential, close, restart } = await startCluster({
		workers: 1,
		concurrency: CONCURRENCY,
		env: { ...NOTICES_SOON, ...env },
	});
	const all = [main, ...workers];
	let ended = victim === 'main' ? main : (workers[0] ?? main);
	return {
		rest,
		sandbox,
		credential,
		close,
		url: main.url,
		log: () => all.map(({ logFile }) => readFileSync(logFile, 'utf8')).join('\n'),
		end: async (signal) => await endN8n(ended, signal),
		restart: async () => {
			ended = await restart(ended);
			// A worker that is back calls what it has lost crashed. When the queue notices that it was gone, n8n decides anew.
			if (victim === 'worker') await pause(2 * NOTICED_WITHIN_MS);
		},
	};
}
