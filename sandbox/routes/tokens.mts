import type { FastifyInstance } from 'fastify';
import { jsonAnswer } from '../http/answer.mts';
import { serve } from '../http/pipeline.mts';
import { Refusal } from '../http/refusal.mts';
import { FieldReader, type Body } from '../rules/fields.mts';
import type { Token } from '../state/accounts.mts';
import { randomText } from '../state/ids.mts';
import { CREDITS_PER_USD, QUOTA_UNITS_PER_CREDIT } from '../state/prices.mts';
import type { World } from '../state/world.mts';

const MAX_NAME_CHARACTERS = 50;
const KEY_LENGTH = 48;

/** Contract section 4.3. */
export function addTokenRoutes(api: FastifyInstance, world: World): void {
	api.post(
		'/v1/tokens',
		serve(world, {
			point: 'token',
			handle: ({ body, caller }) => {
				const token = readToken(body, world.accounts.tokens.size + 1, caller.user.id, world.now());
				const key = randomText(KEY_LENGTH, world.settings.random);
				world.accounts.tokens.set(key, token);
				return jsonAnswer({
					success: true,
					message: '',
					credits_per_usd: CREDITS_PER_USD,
					data: { ...token, key },
				});
			},
		}),
	);
}

function readToken(body: Body, id: number, userId: number, nowMs: number): Token {
	const fields = new FieldReader(body);
	const name = fields.requiredString('name');
	// The contract shows the message and no status; a 200 with `success: false` was seen (field notes, Errors).
	if ([...name].length > MAX_NAME_CHARACTERS) throw new Refusal(200, '令牌名称过长');
	// The contract sets no bound for amounts and times: less than nothing buys nothing, and a time in the past has expired.
	const quota = fields.integer('remain_quota') ?? 0;
	const credits = fields.number('remain_credits');
	const seconds = Math.floor(nowMs / 1_000);
	// Overrides when provided, and a provided 0 is provided.
	const remainQuota = credits === undefined ? quota : Math.round(credits * QUOTA_UNITS_PER_CREDIT);
	return {
		id,
		user_id: userId,
		status: 1,
		name,
		created_time: seconds,
		accessed_time: seconds,
		expired_time: fields.integer('expired_time') ?? -1,
		remain_quota: remainQuota,
		remain_credits: remainQuota / QUOTA_UNITS_PER_CREDIT,
		unlimited_quota: fields.boolean('unlimited_quota') ?? false,
		used_quota: 0,
		used_credits: 0,
		daily_credits: fields.number('daily_credits') ?? 0,
		monthly_credits: fields.number('monthly_credits') ?? 0,
		model_limits_enabled: fields.boolean('model_limits_enabled') ?? false,
		model_limits: fields.string('model_limits') ?? '',
		group: fields.string('group') ?? '',
		cross_group_retry: false,
	};
}
