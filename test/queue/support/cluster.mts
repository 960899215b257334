/** n8n in queue mode for one test file: Redis, PostgreSQL, a main n8n and its workers, the packed package, a sandbox. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../../tools/processes/freePort.mjs';
import { startSandbox } from '../../../sandbox/index.mts';
import { installN8n } from '../../../tools/install/n8n.mjs';
import { launchN8n, untilReady, type N8n } from '../../../tools/n8n/launch.mjs';
import { providePackage } from '../../../tools/package/pack.mjs';
import { startPostgres } from '../../../tools/queue/postgres.mjs';
import { startRedis } from '../../../tools/queue/redis.mjs';
import { signIn, MINIMAL_N8N } from '../../n8n/support/instance.mts';

export type Cluster = Awaited<ReturnType<typeof startCluster>>;

/** Executions that one worker runs at the same time. */
export const executionsPerWorker = 5;

const LOCK_MS = 20_000;
const ASK_EVERY_MS = 12_000;
/**
 * The settings of n8n by which it notices soon that a worker was killed: its own 60 s and 30 s are long for a test. Only for tests
 * that kill one. A job that a worker has taken, and not locked before the queue asks twice, counts as lost, and n8n then ends its
 * execution: on a busy machine, that happens to a worker that lives.
 */
export const NOTICES_SOON = {
	QUEUE_WORKER_LOCK_DURATION: String(LOCK_MS),
	QUEUE_WORKER_LOCK_RENEW_TIME: '2000',
	QUEUE_WORKER_STALLED_INTERVAL: String(ASK_EVERY_MS),
};
/** A worker that is gone is noticed within this, with the settings above. */
export const NOTICED_WITHIN_MS = LOCK_MS + ASK_EVERY_MS;

interface ClusterOptions {
	workers: number;
	/** Of each worker. */
	concurrency?: number;
	sandbox?: Parameters<typeof startSandbox>[0];
	/** Settings of n8n on top of the usual ones. */
	env?: Record<string, string>;
}

export async function startCluster({
	workers: count,
	concurrency = executionsPerWorker,
	sandbox: sandboxOptions,
	env,
}: ClusterOptions) {
	const folder = mkdtempSync(join(tmpdir(), 'generation-gateway-queue-'));
	chmodSync(folder, 0o711); // PostgreSQL runs as a user of its own and must get to its folder in here
	const closers: Array<() => unknown> = [() => rmSync(folder, { recursive: true, force: true })];
	const close = async () => {
		for (const each of closers.splice(0).reverse()) await each();
	};

	try {
		const sandbox = await startSandbox({ port: 0, filesPort: 0, ...sandboxOptions });
		closers.push(() => sandbox.close());
		const redis = await startRedis(folder);
		closers.push(() => redis.server.stop());
		const postgres = await startPostgres(folder);
		closers.push(() => postgres.server.stop());

		const userFolder = join(folder, 'user');
		await providePackage(userFolder);
		const runtime = await installN8n();
		const mainPort = await freePort();
		const launch = async (name: string, command: string[], port: number) => {
			const n8n = await launchN8n({
				runtime,
				userFolder,
				logFile: join(folder, `${name}.log`),
				command,
				port,
				env: {
					...MINIMAL_N8N,
					EXECUTIONS_MODE: 'queue',
					OFFLOAD_MANUAL_EXECUTIONS_TO_WORKERS: 'true',
					QUEUE_BULL_REDIS_HOST: '127.0.0.1',
					QUEUE_BULL_REDIS_PORT: String(redis.port),
					DB_TYPE: 'postgresdb',
					DB_POSTGRESDB_HOST: '127.0.0.1',
					DB_POSTGRESDB_PORT: String(postgres.port),
					DB_POSTGRESDB_USER: postgres.user,
					DB_POSTGRESDB_PASSWORD: postgres.password,
					DB_POSTGRESDB_DATABASE: postgres.database,
					N8N_DEFAULT_BINARY_DATA_MODE: 'database', // n8n's default in queue mode: all workers can read it
					QUEUE_HEALTH_CHECK_ACTIVE: 'true',
					QUEUE_HEALTH_CHECK_PORT: String(port),
					N8N_WORKER_SERVER_ADDRESS: '127.0.0.1',
					// They share a folder: with one log, a worker that starts takes what others run for its own unfinished executions.
					N8N_EVENTBUS_LOGWRITER_LOGBASENAME: name,
					// As n8n asks for it in queue mode: a worker cannot know where the main process is.
					WEBHOOK_URL: `http://127.0.0.1:${mainPort}/`,
					...env,
				},
			});
			closers.push(() => n8n.server.stop());
			await untilReady(n8n);
			return n8n;
		};

		const startMain = async (port: number) => await launch('main', ['start'], port);
		const startWorker = async (index: number, port: number) =>
			await launch(`worker-${index + 1}`, ['worker', `--concurrency=${concurrency}`], port);
		const main = await startMain(mainPort); // first and alone: it makes the tables
		const workers = await Promise.all(
			Array.from({ length: count }, async (_, index) => await startWorker(index, await freePort())),
		);
		const { rest, credential } = await signIn(main.url, sandbox);
		return {
			main,
			workers,
			rest,
			credential,
			sandbox,
			close,

			/** Starts one of them that has ended, with the same log and at the same address. */
			async restart(ended: N8n): Promise<N8n> {
				const worker = workers.findIndex(({ port }) => port === ended.port);
				return worker === -1 ? await startMain(ended.port) : await startWorker(worker, ended.port);
			},
		};
	} catch (error) {
		await close();
		throw error;
	}
}
