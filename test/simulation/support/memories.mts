/** All that the product remembers in the memory of n8n, apart for each process: one that dies takes it along. */
import * as memory from '../../../core/processMemory';

type AnyMap = Map<unknown, unknown>;
const METHODS = [
	'get',
	'set',
	'has',
	'delete',
	'clear',
	'keys',
	'values',
	'entries',
	'forEach',
	Symbol.iterator,
] as const;
const maps = Object.values<unknown>({ ...memory }).filter((each): each is AnyMap => each instanceof Map);

/** @param ownerNow the process whose step is being taken */
export function separateMemories(ownerNow: () => object): void {
	for (const shared of maps) {
		const byOwner = new WeakMap<object, AnyMap>();
		const own = () => {
			const known = byOwner.get(ownerNow()) ?? new Map<unknown, unknown>();
			byOwner.set(ownerNow(), known);
			return known;
		};
		for (const method of METHODS) {
			const call = (...values: never[]) => (own()[method] as (...of: never[]) => unknown)(...values);
			Object.defineProperty(shared, method, { configurable: true, value: call });
		}
		Object.defineProperty(shared, 'size', { configurable: true, get: () => own().size });
	}
}
