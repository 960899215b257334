import { z } from 'zod';
import { assetTarget } from '../../../core/avatars/pollTargets';
import { joinAnswers, type AvatarAsset, type AvatarKind, type CreatedAnswer } from '../../../core/avatars/records';
import { isPlainObject, type JsonObject } from '../../../core/json';
import type { Order } from '../../../core/orders/order';
import type { Product } from '../../../core/orders/product';
import { toSeconds } from '../../run/output';
import type { Run } from '../../run/run';
import { toAssetOutput, toUploadOutput } from '../assetOutput';
import { recordField } from '../record';

/** The data of an order for an asset, beside the request. */
export const aboutAsset = z.object({
	simplify: z.boolean(),
	/** The body of an upload, empty where it depends on another upload; absent where the asset exists already. */
	body: z.custom<JsonObject>(isPlainObject).optional(),
	/** The group of an upload. */
	groupId: z.unknown(),
});

export type AboutAsset = z.infer<typeof aboutAsset>;

/** Assets of avatar groups (contract 4.6, 4.7): a video may use one as soon as it is `active` (3.2). */
export function assetProduct({ client }: Pick<Run, 'client'>): Product<CreatedAnswer, AvatarAsset> {
	const { avatars } = client;
	/** The bodies that were sent, with the URLs of files. */
	const sentBodies = new WeakMap<Order, JsonObject>();
	return {
		status: 'processing',
		create: async (order, body, attempt) => {
			sentBodies.set(order, body);
			return await avatars.uploadAsset(order.kind as AvatarKind, body, attempt);
		},
		target: ({ kind }, task) => ({
			...assetTarget(task, async () => await avatars.fetchAsset(kind as AvatarKind, task.taskId)),
			survivalTable: () => client.survivalTable(`${kind as AvatarKind} asset`),
		}),
		output: (order, { answer, record, waitedMs = 0 }) => {
			const { about, kind, task, then } = order;
			const { simplify, body: planned, groupId } = aboutAsset.parse(about);
			const [assetId, avatarKind] = [task?.taskId ?? '', kind as AvatarKind];
			const body = sentBodies.get(order) ?? planned;
			const sent = body ? toUploadOutput({ assetId, avatarKind, groupId, body, answer }) : {};
			const raw = joinAnswers(answer?.raw, record?.raw);
			if (then === 'nothing') return { json: { ...sent, ...recordField({ simplify }, raw) } };
			const seen = toAssetOutput(assetId, avatarKind, record ?? { status: 'processing' }, {
				waited_seconds: toSeconds(waitedMs),
			});
			return { json: { ...sent, ...seen, ...recordField({ simplify }, raw) } };
		},
	};
}
