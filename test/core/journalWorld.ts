/** A world of processes that share a purchase log, and the orders that they buy with Purchase Keys. */
import type { GatewayError } from '../../core/errors';
import type { Order } from '../../core/orders/order';
import type { Product } from '../../core/orders/product';
import { makeOrder } from '../../core/orders/states';
import { logPurchases } from '../../core/purchases/logPurchases';
import { PurchaseLog } from '../../core/purchases/purchaseLog';
import type { PurchaseRow } from '../../core/purchases/purchaseRow';
import { sharedClock } from './support';

/** The columns of a run, for tests in which their values do not matter. */
export const columns = {
	...{
		workflow: 'Test',
		workflow_id: 'w',
		node: 'Generate',
		node_id: 'n',
		execution: '7',
		run: '7.0',
		origin: 'r',
		retry: false,
	},
	...{ account: 'a', base_url: 'https://gateway.example.com' },
};

export type Stored = PurchaseRow & { id: number };

/** The troubles that a process has at the moment. */
interface Troubles {
	/** The reason for which the rows cannot be read. */
	broken?: string;
	/** The reason for which none can be added. */
	full?: string;
	/** Rows are gone as soon as they are written: a person clears the table. */
	cleared?: boolean;
	clockIsBehindMs?: number;
}

/** They share a table, which shows a row some time after it has given it a number. */
export function makeWorld(delays: () => number = () => 10) {
	const clock = sharedClock();
	const visible: Stored[] = [];
	const created: string[] = [];
	let ids = 0;
	const takes = async () => await clock.sleep(delays());
	const add = async (row: PurchaseRow) => {
		const stored = { ...row, id: ++ids };
		await takes();
		visible.push(stored);
	};
	/** A process, until it is killed: then nothing that it waits for comes. */
	const process = (name: string, ports: Troubles = {}) => {
		let isDead = false;
		const unlessDead = async <T>(work: Promise<T>): Promise<T> => {
			const result = await work;
			return isDead ? await new Promise<never>(() => {}) : result;
		};
		const table = {
			insert: async (row: PurchaseRow) => {
				if (ports.full !== undefined) throw new Error(ports.full);
				await unlessDead(ports.cleared ? takes() : add(row));
			},
			insertLater: (row: PurchaseRow) => void clock.sleep(300).then(async () => (isDead ? undefined : await add(row))),
			flush: async () => await unlessDead(clock.sleep(300)),
			rowsOfRun: async () => await Promise.resolve([]),
			rowsOfOthers: async () => await Promise.resolve([]),
			rowsOfKey: async (key: string) => {
				await unlessDead(takes());
				if (ports.broken !== undefined) throw new Error(ports.broken);
				const rows = visible.filter(({ key_hash: keyHash }) => keyHash === key);
				await unlessDead(takes());
				return rows;
			},
		};
		const columns = {
			...{ workflow: 'Test', workflow_id: name, node: 'Generate', node_id: 'n', execution: name },
			...{ run: `${name}.0`, origin: 'r', retry: false, account: 'a', base_url: 'https://gateway.example.com' },
		};
		const log = new PurchaseLog({
			...{ columns, table, executionId: name },
			clock: {
				...clock,
				now: () => clock.now() - (ports.clockIsBehindMs ?? 0),
			},
			...{ rememberGap: async () => {}, hasGap: async () => await Promise.resolve(false), tell: () => {} },
		});
		const product = (work: () => Promise<string>): Product<{ id: string }, unknown> => ({
			status: 'queued',
			create: async () => {
				const id = await unlessDead(work());
				return { id };
			},
			output: () => ({ json: {} }),
		});
		return {
			log,
			kill: () => (isDead = true),
			buy: async (order: Order, work?: () => Promise<string>, signal?: AbortSignal, timeoutMs = Infinity) => {
				const endsAtMs = clock.now() + timeoutMs;
				const create = async () => {
					await takes();
					created.push(`task ${created.length + 1}`);
					const id = created.at(-1) as string;
					await takes();
					return id;
				};
				const bought = product(work ?? create);
				const ready = async () => await Promise.resolve(() => {});
				const send = async () => await bought.create(order, {}, { signal });
				const timeLeftMs = () => endsAtMs - clock.now();
				return await logPurchases(bought, log).record(order, {
					ready,
					create: send,
					waits: () => {},
					timeLeftMs,
					signal,
				});
			},
		};
	};
	return { clock, visible, created, process, run: clock.run };
}

export const orderOf = (changes: Partial<NonNullable<Order['request']>> = {}): Order =>
	makeOrder({
		...{ item: 0, thing: 'task', kind: 'image', then: 'poll' },
		wait: { plan: { kind: 'automatic' }, timeoutMs: 1000 },
		request: { body: {}, hash: 'hash', keyHash: 'key', ...changes },
	});

export const codeOf = async (work: Promise<unknown>) =>
	await work.then(
		() => 'bought',
		(error: GatewayError) => error.details.reason?.name ?? error.kind,
	);
