import type { Ports } from '../../core/engine/advance';
import { gatewayError } from '../../core/errors';
import { isPlainObject } from '../../core/json';
import type { Output } from '../../core/orders/order';

/** n8n stores all data of an execution as one text, which has no more characters: beyond that it saves nothing. */
const MOST_CHARACTERS = 2 ** 29 - 24;

/** The same beside the orders of a run that sleeps: each further execution would fetch the same results again. */
export const MOST_CHARACTERS_ASLEEP = 5e8;

/** JSON is stored escaped, and several times: until the results of a run that sleeps are passed on, and by each node that follows. */
const TIMES_STORED = 3;

/** The results of a run, as far as n8n has to store them. */
export class StoredSize {
	private characters = 0;

	constructor(private readonly mostCharacters = MOST_CHARACTERS) {}

	/** Counts an output. False where it does not fit beside the others: then it is not counted. */
	takes({ json, binary = {} }: Output): boolean {
		const added = TIMES_STORED * charactersOf(json) + inlineCharacters(binary);
		if (this.characters + added > this.mostCharacters) return false;
		this.characters += added;
		return true;
	}

	/** Delivers the results that n8n can store; the others end as errors of their items. */
	bounded(deliver: Ports['deliver']): Ports['deliver'] {
		return async (order, ...about) => {
			const output = await deliver(order, ...about);
			if (this.takes(output)) return output;
			throw gatewayError('resultsTooLargeToStore', { id: order.task?.taskId ?? '' }, { task: order.task });
		};
	}
}

/** About as many as its JSON has. That itself would hold n8n's thread for long: a picture is a text of megabytes. */
function charactersOf(value: unknown): number {
	if (typeof value === 'string') return value.length + 2;
	if (typeof value !== 'object' || value === null) return 10;
	return Object.entries(value).reduce((total, [name, each]) => total + name.length + 4 + charactersOf(each), 2);
}

/** Files that n8n keeps elsewhere have an ID. */
function inlineCharacters(binary: object): number {
	return Object.values(binary).reduce((total: number, file: unknown) => {
		if (!isPlainObject(file) || file.id !== undefined || typeof file.data !== 'string') return total;
		return total + file.data.length;
	}, 0);
}
