import { GatewayError, stoppedError } from '../errors';
import { unknownOutcome } from '../http/connectionErrors';
import type { Tries } from '../http/types';
import type { JsonObject } from '../json';
import type { Order } from '../orders/order';
import type { Bought, Product } from '../orders/product';
import { buyOnce } from './purchaseKey';
import type { PurchaseLog } from './purchaseLog';

/** The same product, with rows in the log for everything that it creates. */
export function logPurchases<Answer extends { id: string }, Rec>(
	product: Product<Answer, Rec>,
	log: PurchaseLog,
): Product<Answer, Rec> {
	const send = async (order: Order, body: JsonObject, tries: Tries): Promise<Answer | Bought> => {
		try {
			if (tries.signal?.aborted) throw stoppedError();
			const answer = await product.create(order, body, tries);
			log.note(order, 'accepted', { taskId: answer.id });
			return answer;
		} catch (thrown) {
			// What is none of our errors says nothing about what the service did.
			const error =
				thrown instanceof GatewayError ? thrown : unknownOutcome(order.thing, UNREADABLE, undefined, thrown);
			log.note(order, error.kind === 'outcomeUnknown' ? 'unknown' : 'not_accepted', { error });
			throw error;
		}
	};
	return {
		...product,
		create: async (order, body, tries) => {
			if (order.request?.keyHash === undefined) {
				await log.begin(order);
				return await send(order, body, tries);
			}
			return await buyOnce(order, log, async () => await send(order, body, tries), tries.signal);
		},
	};
}

const UNREADABLE = 'The service answered, but the answer could not be read';
