import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Fault } from './faults/queue.mts';
import { createServer } from './http/server.mts';
import { settle, type SandboxOptions } from './options.mts';
import { addAvatarRoutes } from './routes/avatars.mts';
import { addBalanceRoutes } from './routes/balance.mts';
import { addControlRoutes, stats, type Stats } from './routes/control.mts';
import { addContentRoutes, addFileRoutes } from './routes/files.mts';
import { addGenerationRoutes } from './routes/generation.mts';
import { addInbox } from './routes/inbox.mts';
import { addTokenRoutes } from './routes/tokens.mts';
import { addUploadRoutes } from './routes/uploads.mts';
import { addVerificationPage } from './routes/verificationPage.mts';
import type { User } from './state/accounts.mts';
import type { Asset, AvatarKind } from './state/avatars.mts';
import type { LoggedRequest } from './state/requestLog.mts';
import type { SandboxTask } from './state/tasks.mts';
import { keepState } from './state/saved.mts';
import { World, type Message, type Upload } from './state/world.mts';
import { directivesOf } from './faults/readDirectives.mts';

export type { FaultAction } from './faults/answers.mts';
export type { Fault, FaultPoint } from './faults/queue.mts';
export type { SandboxOptions } from './options.mts';
export type { Stats } from './routes/control.mts';
export type { User } from './state/accounts.mts';
export type { LoggedRequest } from './state/requestLog.mts';
export type { SandboxTask, TaskState } from './state/tasks.mts';

/**
 * A local gateway in the role of the service: an independent reading of docs/service, with faults to
 * order. See README.md in this folder for directives, faults and control endpoints.
 */
export interface Sandbox {
	/** Without a slash at the end. Made-up names until it listens. */
	readonly baseUrl: string;
	readonly filesUrl: string;
	/** The file host under another name: where a `redirect` leads. */
	readonly mirrorUrl: string;
	/** The first of the API keys. */
	readonly apiKey: string;
	/** For requests without a network: `await sandbox.api.inject(…)`. */
	readonly api: FastifyInstance;
	readonly files: FastifyInstance;
	/** Accepted tasks, in order; each knows its state now. */
	readonly tasks: SandboxTask[];
	/** Requests to the API, and to the file host, in order. */
	readonly requests: LoggedRequest[];
	readonly fileRequests: LoggedRequest[];
	readonly uploads: Upload[];
	/** What workflows have sent to the inbox, the newest first. */
	readonly inbox: Message[];
	/** Mutable: a test may empty an account. */
	readonly users: User[];
	readonly faults: { add(...faults: Fault[]): void; clear(): void; readonly pending: number };
	stats(): Stats;
	/** An active asset of the first user, ready for a generation request. */
	addAsset(options?: { id?: string; kind?: AvatarKind; directives?: string }): Asset;
	/** Plays the person in the browser. */
	verify(taskId: string, outcome?: 'pass' | 'fail'): void;
	/** Ends what a test holds with directives: tasks that would never end, and status reads and files that are slow. */
	release(): void;
	/** As just started: no tasks, files, tokens, faults, logs; full balance. */
	reset(): void;
	/** Ends at once, open connections included. */
	close(): Promise<void>;
}

/** A sandbox that does not listen yet; `inject` works. */
export function createSandbox(options?: SandboxOptions): Sandbox {
	return build(options).sandbox;
}

/** A sandbox that listens on 127.0.0.1. */
export async function startSandbox(options?: SandboxOptions): Promise<Sandbox> {
	const { sandbox, world } = build(options);
	try {
		await sandbox.api.listen({ host: '127.0.0.1', port: world.settings.port });
		await sandbox.files.listen({ host: '127.0.0.1', port: world.settings.filesPort });
	} catch (reason) {
		await sandbox.close();
		throw reason;
	}
	const filesPort = portOf(sandbox.files);
	world.addresses = {
		api: `http://127.0.0.1:${portOf(sandbox.api)}`,
		files: `http://127.0.0.1:${filesPort}`,
		mirror: `http://localhost:${filesPort}`,
	};
	if (!world.settings.stateFile) return sandbox;
	const stopKeeping = keepState(world, world.settings.stateFile);
	const { close } = sandbox;
	sandbox.close = async () => {
		stopKeeping();
		await close();
	};
	return sandbox;
}

function build(options?: SandboxOptions): { sandbox: Sandbox; world: World } {
	const world = new World(settle(options));
	const now = () => world.now();
	const api = createServer(world.apiLog, now);
	const files = createServer(world.filesLog, now);
	addUploadRoutes(api, world);
	addGenerationRoutes(api, world);
	addContentRoutes(api, world);
	addBalanceRoutes(api, world);
	addTokenRoutes(api, world);
	addAvatarRoutes(api, world);
	addVerificationPage(api, world);
	addInbox(api, world);
	addControlRoutes(api, world, () => world.reset());
	addFileRoutes(files, world);
	return { sandbox: facade(world, api, files), world };
}

function facade(world: World, api: FastifyInstance, files: FastifyInstance): Sandbox {
	return {
		get baseUrl() {
			return world.addresses.api;
		},
		get filesUrl() {
			return world.addresses.files;
		},
		get mirrorUrl() {
			return world.addresses.mirror;
		},
		get apiKey() {
			return world.settings.apiKeys[0] ?? '';
		},
		api,
		files,
		get tasks() {
			return world.tasks.list();
		},
		get requests() {
			return world.apiLog.entries;
		},
		get fileRequests() {
			return world.filesLog.entries;
		},
		get uploads() {
			return [...world.uploads.values()];
		},
		get inbox() {
			return world.inbox;
		},
		get users() {
			return world.accounts.users;
		},
		faults: {
			add: (...faults) => faults.forEach((fault) => world.faults.add(fault)),
			clear: () => world.faults.clear(),
			get pending() {
				return world.faults.pending;
			},
		},
		stats: () => stats(world),
		addAsset: ({ id, kind = 'private', directives = '' } = {}) => {
			const group = world.avatars.createGroup(kind, world.accounts.users[0]?.id ?? 0);
			const asset = { durationMs: 0, ...directivesOf({ sandbox: directives }) };
			return world.avatars.createAsset(group, { type: 'image', sourceUrl: 'https://example.com/seed.png' }, asset, id);
		},
		verify: (taskId, outcome = 'pass') => {
			const verification = world.avatars.verifications.get(taskId);
			if (!verification) throw new Error(`no verification ${taskId}`);
			world.avatars.decide(verification, outcome);
		},
		release: () => world.tasks.release(),
		reset: () => world.reset(),
		close: async () => {
			// A kept-alive connection would otherwise hold `close` until it times out.
			api.server.closeAllConnections();
			files.server.closeAllConnections();
			await Promise.all([api.close(), files.close()]);
		},
	};
}

function portOf(server: FastifyInstance): number {
	const address: AddressInfo | string | null = server.server.address();
	return typeof address === 'object' && address !== null ? address.port : 0;
}
