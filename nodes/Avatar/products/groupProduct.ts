import { z } from 'zod';
import type { CreatedAnswer } from '../../../core/avatars/records';
import { isPlainObject, type JsonObject } from '../../../core/json';
import type { Product } from '../../../core/orders/product';
import { idIn, textIn } from '../../../core/records/loose';
import { withoutEmpty } from '../../run/output';
import type { Run } from '../../run/run';
import { recordField } from '../record';

/** The data of an order for a group, beside the request. */
export const aboutGroup = z.object({ simplify: z.boolean(), body: z.custom<JsonObject>(isPlainObject) });

export type AboutGroup = z.infer<typeof aboutGroup>;

/** Private avatar groups (contract 4.7, step 1). */
export function groupProduct({ client }: Pick<Run, 'client'>): Product<CreatedAnswer, never> {
	return {
		status: 'created',
		create: async (_, body, attempt) => await client.avatars.createGroup(body, attempt),
		output: ({ about, task }, { answer }) => {
			const { simplify, body } = aboutGroup.parse(about);
			// The service's answer counts; where it has no name, the request does.
			const [name, description] = ['name', 'description'].map(
				(field) => textIn(answer?.raw, field) ?? textIn(body, field),
			);
			const given = idIn(answer?.raw, 'group_id');
			const shown = withoutEmpty({
				group_id: String(given) === task?.taskId ? given : task?.taskId,
				...{ name, description },
			});
			return { json: { ...shown, ...recordField({ simplify }, answer?.raw) } };
		},
	};
}
