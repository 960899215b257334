import type { IExecuteFunctions } from 'n8n-workflow';
import { z } from 'zod';
import { parseCallback } from '../../../core/avatars/callback';
import { rememberVerification } from '../../../core/avatars/memory';
import {
	joinAnswers,
	type CreatedAnswer,
	type RememberedVerification,
	type VerificationSession,
} from '../../../core/avatars/records';
import { gatewayError } from '../../../core/errors';
import { VERIFICATION_LINK_SECONDS } from '../../../core/limits';
import type { Product } from '../../../core/orders/product';
import type { Run } from '../../run/run';
import { memoryOf } from '../../run/verificationMemory';
import { recordField } from '../record';
import { toVerificationOutput } from '../verificationOutput';

/** The lifetime of the link (contract 3.3): an older session cannot be used. */
const LINK_LIFETIME_MS = VERIFICATION_LINK_SECONDS * 1000;

/** The data of an order for a verification, beside the request. */
export const aboutVerification = z.object({
	simplify: z.boolean(),
	callbackUrl: z.string().optional(),
	reference: z.string().optional(),
});

export type AboutVerification = z.infer<typeof aboutVerification>;

/** Sessions in which a person verifies themselves (contract 4.6, steps 1 and 2). The link comes with a read. */
export function verificationProduct({
	client,
	context,
}: Pick<Run, 'client' | 'context'>): Product<CreatedAnswer, VerificationSession> {
	const { avatars } = client;
	return {
		status: 'created',
		create: async (_, body, attempt) => await avatars.createVerification(body, attempt),
		isReusable: (_, { acceptedAtMs }) => Date.now() - acceptedAtMs < LINK_LIFETIME_MS,
		read: async (_, { taskId }) => await avatars.getNewVerification(taskId),
		output: ({ about, task = { taskId: '', elapsedMs: 0 } }, { answer, record }) => {
			const { simplify, callbackUrl, reference } = aboutVerification.parse(about);
			const session: VerificationSession = record ?? { taskId: task.taskId, raw: {} };
			if (session.vendorToken !== undefined) {
				const given = reference ?? parseCallback(callbackUrl ?? '').reference;
				remember(context, session.vendorToken, { taskId: task.taskId, reference: given, atMs: Date.now() });
			}
			const status = answer?.status ?? session.status;
			if (session.h5Link === undefined)
				throw gatewayError('noVerificationLink', { id: task.taskId, status: session.status }, { task });
			const raw = recordField({ simplify }, joinAnswers(answer?.raw, session.raw));
			const more = { verified: false, callback_url: callbackUrl, reference, ...raw };
			return { json: toVerificationOutput({ ...session, status }, more) };
		},
	};
}

/** Remembers a verification for a trigger in this workflow, except in a manual execution. */
function remember(context: IExecuteFunctions, vendorToken: string, verification: RememberedVerification): void {
	if (context.getMode() === 'manual') return;
	rememberVerification(memoryOf(context), vendorToken, verification);
}
