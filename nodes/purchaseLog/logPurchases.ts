import { GatewayError, stoppedError } from '../../core/errors';
import { unknownOutcome } from '../../core/http/connectionErrors';
import type { Product } from '../../core/orders/product';
import type { PurchaseLog } from './purchaseLog';

/** The same product, with rows in the log for everything that it creates. */
export function logPurchases<Answer extends { id: string }, Rec>(
	product: Product<Answer, Rec>,
	log: PurchaseLog,
): Product<Answer, Rec> {
	return {
		...product,
		create: async (order, body, tries) => {
			await log.begin(order);
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
		},
	};
}

const UNREADABLE = 'The service answered, but the answer could not be read';
