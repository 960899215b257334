import { enterRun, ofOtherRun, thenTryAgain, thenTryWithChanges } from '../recovery';
import type { CatalogueEntry, NamedRun } from '../catalogueEntry';

interface Earlier {
	/** The execution that has bought it, or may have. */
	execution: string;
	/** ISO 8601. */
	time: string;
	/** The task, if it is known. */
	id?: string;
}

/** E.g. " on 2026-11-23 at 14:05 UTC". The row of an unknown outcome is written after the request, minutes at most. */
const on = (time?: string, at = 'at') =>
	time === undefined ? '' : ` on ${time.slice(0, 10)} ${at} ${time.slice(11, 16)} UTC`;

/** One purchase for each Purchase Key, and purchases that are reused while a workflow is built. */
export const PURCHASES = {
	purchaseLogUnavailable: {
		kind: 'unavailable',
		message: 'This item has a Purchase Key, but the purchase log cannot be used',
		advice: ({ why }: { why: string }, situation) =>
			`Nothing was bought: only the log tells if it was bought before. The reason: ${why}. Purchase Log has to be on in the credential, and n8n needs its data tables.${thenTryAgain(situation)}`,
		created: 'nothing',
	},
	purchaseKeyShared: {
		kind: 'badInput',
		code: 'purchase_key_conflict',
		message: ({ items }: { items: string }) => `Items ${items} have the same Purchase Key, but not the same request`,
		advice: 'n8n counts items from 0. Use another Purchase Key for each request, e.g. the ID of its order.',
	},
	purchaseKeyConflict: {
		kind: 'badInput',
		message: ({ execution }: Earlier) => `Execution ${execution} has used this Purchase Key for a different request`,
		advice: ({ time, id }: Earlier) =>
			`It ${id === undefined ? `did so${on(time)}` : `bought task ${id}`}. Nothing was bought now. To buy this request as well, use another Purchase Key.`,
		created: 'nothing',
	},
	purchaseKeyUnclear: {
		kind: 'badInput',
		message: ({ execution }: Earlier) =>
			`The service may or may not have accepted the task that execution ${execution} submitted with this Purchase Key`,
		advice: (data: Earlier & NamedRun, situation) =>
			`Nothing was bought now. Look in the task list of your account for a task created${on(data.time, 'around')}. If there is one, use Get Result. If there is none, ${enterRun(data)}.${thenTryWithChanges(situation)}${ofOtherRun(data)}`,
		created: 'nothing',
	},
	purchaseKeyExpired: {
		kind: 'noResult',
		message: ({ id }: { id: string }) =>
			`The service no longer keeps the result of task ${id}, which this Purchase Key has bought`,
		advice: 'To buy it again, use another Purchase Key.',
		permanent: true,
	},
	reuseUnavailable: {
		kind: 'unavailable',
		code: 'purchase_log_unavailable',
		message: 'Reuse While Building is on, but the purchase log cannot be read',
		advice: ({ why }: { why: string }) =>
			`Nothing was bought: only the log tells what this node has bought before. The reason: ${why}. Try again. To buy without checking, turn off Reuse While Building in the options.`,
		created: 'nothing',
	},
	reuseUnclear: {
		kind: 'badInput',
		code: 'purchase_key_unclear',
		message: ({ execution }: Omit<Earlier, 'id'>) =>
			`The service may or may not have accepted the same request, which execution ${execution} has sent`,
		advice: ({ time }: Omit<Earlier, 'id'>) =>
			`Nothing was bought now. Look in the task list of your account for a task created${on(time, 'around')}. If there is one, use Get Result. If there is none, turn off Reuse While Building in the options, and run this node with this item only: other items would be bought again.`,
		created: 'nothing',
	},
	reusedTaskExpired: {
		kind: 'noResult',
		code: 'created_task_not_found',
		message: ({ id }: { id: string }) =>
			`The service no longer keeps the result of task ${id}, which Reuse While Building has found`,
		advice: 'Nothing was bought now. To buy it again, turn off Reuse While Building in the options.',
		permanent: true,
	},
} satisfies Record<string, CatalogueEntry>;
