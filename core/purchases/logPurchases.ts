import { stoppedError } from '../errors';
import { asCreationError } from '../http/connectionErrors';
import type { Order } from '../orders/order';
import type { Product, PurchaseSteps } from '../orders/product';
import { buyOnce, withNews } from './purchaseKey';
import type { PurchaseLog } from './purchaseLog';

/** The same product, with rows in the log for everything that it creates. */
export function logPurchases<Answer extends { id: string }, Rec>(product: Product<Answer, Rec>, log: PurchaseLog) {
	const send = async (order: Order, { create, signal }: PurchaseSteps<Answer>): Promise<Answer> => {
		try {
			if (signal?.aborted) throw stoppedError();
			const answer = await create();
			log.note(order, 'accepted', { taskId: answer.id });
			return answer;
		} catch (thrown) {
			const error = asCreationError(thrown, order.thing);
			log.note(order, error.kind === 'outcomeUnknown' ? 'unknown' : 'not_accepted', { error });
			throw error;
		}
	};
	return {
		...product,
		record: async (order: Order, steps: PurchaseSteps<Answer>) => {
			const create = async () => await send(order, steps);
			if (order.request?.keyHash !== undefined) return await buyOnce(order, log, { ...steps, create });
			await steps.ready();
			await log.begin(order);
			// It may wait long for a slot of the account. Another retry is to see that it is still under way.
			return await (log.ports.columns.retry ? withNews({ order, log, clock: log.ports.clock }, create()) : create());
		},
	};
}
