import type { FastifyInstance } from 'fastify';
import { directivesOf } from '../faults/readDirectives.mts';
import { problemWithFault, type Fault } from '../faults/queue.mts';
import { isObject } from '../rules/fields.mts';
import type { AvatarKind } from '../state/avatars.mts';
import { CREDITS_PER_USD } from '../state/prices.mts';
import type { World } from '../state/world.mts';

/**
 * Routes for tests in another process, to look inside and to queue faults. No key, not logged, not limited. In the same
 * process the `Sandbox` object offers the same.
 */
export function addControlRoutes(api: FastifyInstance, world: World, reset: () => void): void {
	api.post('/__sandbox/faults', (request, reply) => {
		const faults: unknown[] = Array.isArray(request.body) ? request.body : [request.body];
		const problem = faults.map(problemWithFault).find((found) => found !== undefined);
		if (problem !== undefined) return reply.code(400).send({ problem });
		for (const fault of faults) world.faults.add(fault as Fault);
		return { pending: world.faults.pending };
	});
	api.delete('/__sandbox/faults', () => {
		world.faults.clear();
		return { pending: 0 };
	});
	api.get('/__sandbox/tasks', () => world.tasks.list().map((task) => ({ ...task, ...task.state() })));
	api.get('/__sandbox/requests', () => ({
		api: world.apiLog.entries,
		files: world.filesLog.entries,
	}));
	api.get('/__sandbox/stats', () => stats(world));
	api.post('/__sandbox/reset', () => {
		reset();
		return { reset: true };
	});
	api.post('/__sandbox/account', ({ body }) => changeAccount(world, isObject(body) ? body : {}));
	api.post('/__sandbox/assets', ({ body }) => seedAsset(world, isObject(body) ? body : {}));
	api.post<{ Params: { id: string } }>('/__sandbox/verifications/:id', ({ params, body }, reply) => {
		const verification = world.avatars.verifications.get(params.id);
		if (!verification) return reply.code(404).send({ problem: 'no such verification' });
		world.avatars.decide(verification, isObject(body) && body.outcome === 'fail' ? 'fail' : 'pass');
		return verification;
	});
}

export interface Stats {
	tasks: number;
	peakTasksInFlight: number;
	apiRequests: number;
	fileRequests: number;
	/** Most API requests within any one second, refused ones included. */
	peakRequestsPerSecond: number;
	/** API requests refused by the sandbox's own limit. */
	rateLimited: number;
	/** Requests to the file host that carried an Authorization header; must be 0. */
	keysSeenByFileHost: number;
}

export function stats(world: World): Stats {
	const files = world.filesLog.entries;
	return {
		tasks: world.tasks.list().length,
		peakTasksInFlight: world.tasks.peakInFlight(),
		apiRequests: world.apiLog.entries.length,
		fileRequests: files.length,
		peakRequestsPerSecond: world.apiLog.peakPerSecond,
		rateLimited: world.rateLimit.refused,
		keysSeenByFileHost: files.filter(({ headers }) => headers.authorization !== undefined).length,
	};
}

/** `{key?, remain_usd?, remain_credits?, unlimited_quota?, broken?}`; the key defaults to the first one. */
function changeAccount(world: World, body: Record<string, unknown>) {
	const user = userWithKey(world, body.key);
	if (!user) return { problem: 'no such key' };
	if (typeof body.remain_usd === 'number') user.remainCredits = body.remain_usd * CREDITS_PER_USD;
	if (typeof body.remain_credits === 'number') user.remainCredits = body.remain_credits;
	if (typeof body.unlimited_quota === 'boolean') user.unlimited = body.unlimited_quota;
	if (body.broken === 'no_user' || body.broken === 'query_error') user.broken = body.broken;
	if (body.broken === null) delete user.broken;
	return user;
}

/** `{key?, id?, kind?, type?, sandbox?}`: an asset that is active at once unless directives say otherwise. */
function seedAsset(world: World, body: Record<string, unknown>) {
	const user = userWithKey(world, body.key);
	if (!user) return { problem: 'no such key' };
	const kind: AvatarKind = body.kind === 'real' ? 'real' : 'private';
	const group = world.avatars.createGroup(kind, user.id);
	const directives = { durationMs: 0, ...directivesOf(body) };
	const id = typeof body.id === 'string' ? body.id : undefined;
	const type = typeof body.type === 'string' ? body.type : 'image';
	const asset = world.avatars.createAsset(group, { type, sourceUrl: 'https://example.com/seed.png' }, directives, id);
	return {
		asset_id: asset.id,
		group_id: group.id,
		reference: `asset://${asset.id}`,
		status: asset.status(),
	};
}

function userWithKey(world: World, key: unknown) {
	return typeof key === 'string' ? world.accounts.users.find((user) => user.key === key) : world.accounts.users[0];
}
