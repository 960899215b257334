import type { FastifyInstance } from 'fastify';
import { serve, type Call, type Subject } from '../http/pipeline.mts';
import { invalidRequest, Refusal } from '../http/refusal.mts';
import { FieldReader, type Body } from '../rules/fields.mts';
import type { Verification } from '../state/avatars.mts';
import type { World } from '../state/world.mts';
import { avatarAnswer } from './avatarAnswer.mts';
import { RESULT_CODES, verificationLink } from './verificationPage.mts';

/** Contract section 4.6, steps 1 to 3. */
export function addVerificationRoutes(api: FastifyInstance, world: World, prefix: string): void {
	const subject = ({ id = '' }): Subject | undefined => {
		const directives = world.avatars.verifications.get(id)?.directives;
		return directives && { id, directives, answers: directives.poll };
	};
	api.post(
		`${prefix}/verify-tasks`,
		serve(world, {
			point: 'avatar',
			handle: ({ body, caller, directives }) => {
				const callbackUrl = new FieldReader(body).string('callback_url');
				// The contract asks for no scheme (4.6): it may be an app that opens.
				if (callbackUrl !== undefined && !URL.canParse(callbackUrl)) throw invalidRequest('callback_url must be a URL');
				const verification = world.avatars.createVerification(caller.user.id, callbackUrl, directives);
				return avatarAnswer(sessionRecord(verification), directives, false);
			},
		}),
	);
	api.get(
		`${prefix}/verify-tasks/:id`,
		serve(world, {
			point: 'avatar',
			subject,
			handle: ({ params: { id = '' }, caller }) => {
				const verification = ownVerification(world, id, caller.user.id);
				const record = {
					...sessionRecord(verification),
					h5_link: verificationLink(verification, world.addresses.api),
					vendor_token: verification.vendorToken,
					expires_at: Math.floor(verification.expiresAt / 1_000),
				};
				return avatarAnswer(record, verification.directives, false);
			},
		}),
	);
	api.get(
		`${prefix}/verify-results`,
		serve(world, { point: 'avatar', handle: (call) => verificationResult(world, call) }),
	);
}

/** Section 3.3: `completed` says that the session exists, not that anybody passed. */
function sessionRecord({ id, createdAt }: Verification): Body {
	return {
		task_id: id,
		object: 'generation.task',
		model: 'alpha-video-2-0',
		status: 'completed',
		progress: 100,
		created_at: Math.floor(createdAt / 1_000),
		metadata: {},
	};
}

function verificationResult(world: World, { query, caller }: Call) {
	const { task_id: taskId = '', vendor_token: vendorToken = '' } = query;
	if (taskId === '' || vendorToken === '') throw invalidRequest('task_id and vendor_token are required');
	const verification = ownVerification(world, taskId, caller.user.id);
	if (verification.vendorToken !== vendorToken) {
		throw new Refusal(403, 'vendor_token does not belong to this task', 'vendor_token_mismatch');
	}
	const { outcome, groupId, directives } = verification;
	const record = {
		task_id: taskId,
		verify_status: verifyStatus(world, verification),
		...(outcome === undefined ? {} : { result_code: RESULT_CODES[outcome] }),
		...(groupId === undefined ? {} : { group_id: groupId }),
	};
	return avatarAnswer(record, directives, false);
}

/** Only `verified` is shown in the contract. */
function verifyStatus(world: World, verification: Verification): string {
	if (verification.outcome === 'pass') return 'verified';
	if (verification.outcome === 'fail') return 'failed';
	return world.avatars.isExpired(verification) ? 'expired' : 'pending';
}

function ownVerification(world: World, id: string, userId: number): Verification {
	const verification = world.avatars.verifications.get(id);
	if (!verification || verification.userId !== userId) {
		throw new Refusal(404, `Verification task ${id} not found`, 'task_not_found');
	}
	return verification;
}
