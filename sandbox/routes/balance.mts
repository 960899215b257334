import type { FastifyInstance } from 'fastify';
import { jsonAnswer } from '../http/answer.mts';
import { serve, type Call } from '../http/pipeline.mts';
import { Refusal } from '../http/refusal.mts';
import { CREDITS_PER_USD } from '../state/prices.mts';
import type { World } from '../state/world.mts';

const CORS = { 'access-control-allow-origin': '*' };
const PREFLIGHT = {
	...CORS,
	'access-control-allow-methods': 'GET, OPTIONS',
	'access-control-allow-headers': 'Authorization, Content-Type',
	'access-control-max-age': '600',
};

/** Contract sections 4.1 and 4.2. */
export function addBalanceRoutes(api: FastifyInstance, world: World): void {
	for (const path of ['/v1/user/balance', '/user/balance']) {
		api.get(path, serve(world, { point: 'balance', handle: userBalance }));
		// A browser asks this before it sends a header such as Authorization, and sends no key with it.
		api.options(path, (_request, reply) => reply.code(204).headers(PREFLIGHT).send());
	}
	// A browser may read a refusal only with the same header.
	api.addHook('onSend', async (request, reply) => {
		if (request.routeOptions.url?.endsWith('/user/balance')) reply.headers(CORS);
	});
	api.get('/v1/balance', serve(world, { point: 'balance', handle: tokenBalance }));
}

/** Section 2.1, with USD as the display unit. */
function userBalance({ caller: { user } }: Call) {
	if (user.broken === 'no_user') throw new Refusal(400, 'Failed to get user quota');
	if (user.broken === 'query_error') throw new Refusal(500, 'Failed to get used quota');
	return jsonAnswer({
		success: true,
		remain_balance: user.unlimited ? -1 : user.remainCredits / CREDITS_PER_USD,
		used_balance: user.usedCredits / CREDITS_PER_USD,
		// The contract says -1 of the balance only.
		remain_credits: user.remainCredits,
		used_credits: user.usedCredits,
		credits_per_usd: CREDITS_PER_USD,
		unlimited_quota: user.unlimited,
	});
}

/** Section 4.2 does not show the shape; this one uses the names of the token record. */
function tokenBalance({ caller: { user, token } }: Call) {
	if (!token) {
		return jsonAnswer({
			success: true,
			remain_credits: user.remainCredits,
			used_credits: user.usedCredits,
			unlimited_quota: user.unlimited,
		});
	}
	return jsonAnswer({
		success: true,
		name: token.name,
		remain_quota: token.remain_quota,
		used_quota: token.used_quota,
		remain_credits: token.remain_credits,
		used_credits: token.used_credits,
		unlimited_quota: token.unlimited_quota,
		expired_time: token.expired_time,
	});
}
