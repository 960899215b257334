import { z } from 'zod';
import { verificationTarget } from '../../../core/avatars/pollTargets';
import type { VerificationKeys } from '../../../core/avatars/client';
import { recallVerification } from '../../../core/avatars/memory';
import type { VerificationResult } from '../../../core/avatars/records';
import { gatewayError } from '../../../core/errors';
import type { Order } from '../../../core/orders/order';
import type { Product } from '../../../core/orders/product';
import type { Run } from '../../run/run';
import { memoryOf } from '../../run/verificationMemory';
import { recordField } from '../record';
import { toResultOutput } from '../verificationOutput';

/** The data of an order for the result of a verification. */
export const aboutVerificationResult = z.object({
	simplify: z.boolean(),
	vendorToken: z.string(),
	resultCode: z.string().optional(),
});

export type AboutVerificationResult = z.infer<typeof aboutVerificationResult>;

/** The outcome of a verification that exists already (contract 4.6, step 3): nothing is bought. */
export function verificationResultProduct({
	client,
	context,
}: Pick<Run, 'client' | 'context'>): Product<never, VerificationResult> {
	const { avatars } = client;
	return {
		status: 'pending',
		create: async () => {
			throw await Promise.resolve(gatewayError('packageBug', { words: 'the result of a verification is not bought' }));
		},
		read: async (order) => await avatars.getVerificationResult(keysOf(order)),
		target: (order, task) => {
			const keys = keysOf(order);
			const acceptedAtMs = whenOpened(keys);
			return {
				...verificationTarget(task, async () => await avatars.fetchVerificationResult(keys), acceptedAtMs),
				survivalTable: () => client.survivalTable('verification'),
				acceptedAtMs,
			};
		},
		output: (order, { record }) => {
			const { simplify } = aboutVerificationResult.parse(order.about);
			return { json: toResultOutput(keysOf(order), record, recordField({ simplify }, record?.raw)) };
		},
	};

	/** The time of the link, where this workflow has made it. Otherwise only the task ID is known. */
	function whenOpened({ taskId, vendorToken }: VerificationKeys): number | undefined {
		const known = recallVerification(memoryOf(context), vendorToken, Date.now());
		return known?.taskId === taskId ? known.atMs : undefined;
	}
}

function keysOf({ about, task }: Order): VerificationKeys {
	const { vendorToken, resultCode } = aboutVerificationResult.parse(about);
	return { taskId: task?.taskId ?? '', vendorToken, resultCode };
}
