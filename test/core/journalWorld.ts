/** A world of executions that share the journal and n8n's table of processed data, and buy from one service. */
import { AccountPlaces } from '../../core/account/places';
import { RowBudget } from '../../core/account/rowBudget';
import { gatewayError, stoppedError, type GatewayError } from '../../core/errors';
import { unknownOutcome } from '../../core/http/answers';
import type { CreateAttempt } from '../../core/http/types';
import { Journal, type JournalPorts } from '../../core/journal/journal';
import type { HandedOverRun } from '../../core/journal/fence';
import { Marks } from '../../core/journal/marks';
import type { JournalRow, RunIdentity } from '../../core/journal/row';
import { NoTableError, type JournalTable } from '../../core/journal/table';
import { OrderLedger } from '../../core/orders/ledger';
import type { Order, OrderDraft } from '../../core/orders/order';
import type { SleepCoordinator } from '../../core/engine/sleepCoordinator';
import { makeOrder } from '../../core/orders/states';
import { buyOnce, type Creation } from '../../core/engine/buyOnce';
import { sharedClock, storeOfMarks } from './support';

export type Stored = JournalRow & { id: number; createdAt: string };

/**
 * The end of one insert: as usual; its answer is lost and it is there, late, or never; n8n has no table for it; n8n
 * says nothing; or a person clears the table at once.
 */
export type Insert = 'good' | 'lost' | 'late' | 'never' | 'noTable' | 'silent' | 'gone';

/** The troubles that an execution has at the moment. */
export interface Troubles {
	/** The ends of its next inserts, one after the other. Later ones are good. */
	inserts?: Insert[];
	/** The end of all other inserts. */
	always?: Insert;
	/** The reason for which the rows cannot be read. */
	broken?: string;
	/** n8n's table of processed data is away. */
	noMarks?: boolean;
	/** Rows were removed since its first try began. */
	lacksRows?: boolean;
	clockIsBehindMs?: number;
}

export interface Start {
	executionId?: string;
	isRetry?: boolean;
	isOld?: boolean;
	/** The run that another execution has handed to this one. */
	handedOver?: HandedOverRun;
	/** Retry On Fail runs the node again: with the memory of the try before. */
	memory?: Record<string, unknown>;
	identity?: Partial<RunIdentity>;
	/** Executions with equal names began in the same millisecond. */
	establishedAtMs?: number;
	troubles?: Troubles;
}

export const RUN = { workflowId: 'w', nodeId: 'n', establishedAtMs: 1, runIndex: 0 };

const columns = { workflow: 'Test', node: 'Generate', account: 'a' };

export interface WorldOptions {
	/** The time that a step takes, in milliseconds. */
	delays?: () => number;
	/** The clock of the database is ahead of that of the executions. */
	databaseAheadMs?: number;
	/** The answer of the service to a request. */
	/** Numbers are given as rows are committed, and begin again when the table is cleared. */
	isSqlite?: boolean;
	answers?: (order: Order) => 'accepted' | 'full' | 'refused' | 'lost';
}

/** They share a table, which shows a row some time after it has given it a number. */
export function makeWorld({
	delays = () => 10,
	databaseAheadMs = 0,
	isSqlite = false,
	answers = () => 'accepted',
}: WorldOptions = {}) {
	const clock = sharedClock();
	const names = new Set<string>();
	const visible: Stored[] = [];
	/** The requests that the service has accepted, by item. */
	const bought: number[] = [];
	/** All that has happened, in its sequence. */
	const steps: string[] = [];
	let ids = 0;
	const takes = async () => await clock.sleep(delays());

	/** Issued, numbered and committed: each step takes its time, whatever becomes of the one who waits for it. */
	const add = async (rows: readonly JournalRow[]) => {
		await takes();
		const createdAt = new Date(clock.now() + databaseAheadMs).toISOString();
		const stored = rows.map((row) => ({ ...row, id: ++ids, createdAt }));
		if (!isSqlite) await takes();
		visible.push(...stored);
		visible.sort((one, other) => one.id - other.id);
	};
	const rowsWith = (isWanted: (row: Stored) => boolean) =>
		structuredClone(visible.filter(isWanted).sort((one, other) => other.id - one.id));

	/** One execution of the node, until it is killed: then nothing that it waits for comes. */
	const start = ({ executionId = '7', handedOver, troubles = {}, ...more }: Start = {}) => {
		const { isRetry = handedOver !== undefined } = more;
		let isDead = false;
		let die = () => {};
		const died = new Promise<'died'>((resolve) => (die = () => resolve('died')));
		const unlessDead = async <T>(work: Promise<T>): Promise<T> => {
			const end = <E>(value: E) => (isDead ? new Promise<never>(() => {}) : value);
			return await work.then(end, async (error: unknown) => {
				await end(undefined);
				throw error;
			});
		};
		const look = (claims: string[]) => rowsWith(({ key_hash: claim }) => claims.includes(claim));
		const later = new Set<Promise<unknown>>();
		const assertReadable = () => {
			if (troubles.broken !== undefined) throw new Error(troubles.broken);
		};
		const assertAlive = async () => (isDead ? await new Promise<never>(() => {}) : undefined);
		const insert = async (rows: JournalRow[]) => {
			await assertAlive();
			const how = troubles.inserts?.shift() ?? troubles.always ?? 'good';
			steps.push(`${executionId} inserts`);
			if (how === 'noTable') throw new NoTableError('the data tables are full');
			if (how === 'silent') return await new Promise<never>(() => {});
			if (how === 'late') void clock.sleep(40 * delays()).then(async () => await add(rows));
			if (how === 'lost') await add(rows);
			if (how === 'gone') return await takes();
			if (how !== 'good') throw new Error('the answer was lost');
			await add(rows);
		};
		const read = async (isWanted: (row: Stored) => boolean) => {
			await assertAlive();
			await takes();
			assertReadable();
			const rows = rowsWith(isWanted);
			await takes();
			return rows;
		};
		const table: JournalTable = {
			insertAndLook: async (rows, wanted) =>
				await unlessDead(
					(async () => {
						await insert(rows);
						assertReadable();
						await takes();
						const found = look(wanted);
						steps.push(`${executionId} looks`);
						await takes();
						return found;
					})(),
				),
			look: async (claims) => await unlessDead(read(({ key_hash: claim }) => claims.includes(claim))),
			insertLater: async (row) => {
				if (isDead) return;
				const written = takes().then(async () => await add([row]));
				later.add(written);
				await unlessDead(written);
				later.delete(written);
			},
			flush: async () => void (await unlessDead(Promise.all(later))),
			rowsOfRun: async (pattern) => {
				const [begin = '', end = ''] = pattern.split('%');
				const rows = await unlessDead(read(({ run }) => run.startsWith(begin) && run.endsWith(end)));
				return rows.reverse();
			},
			rowsOfKey: async (key) => await unlessDead(read(({ key_hash: claim }) => claim === key)),
			lacksRows: async () => await Promise.resolve(troubles.lacksRows === true),
			rowsOfRequests: async () => await Promise.resolve([]),
		};
		const store = storeOfMarks(names);
		const touch = async <T>(work: () => Promise<T>) => {
			await assertAlive();
			await unlessDead(takes());
			if (troubles.noMarks) throw new Error('no table of processed data');
			const result = await work();
			await unlessDead(takes());
			return result;
		};
		const slow = {
			record: async (wanted: string[]) =>
				await touch(async () => {
					if (wanted.some((name) => name.endsWith('with rows'))) steps.push(`${executionId} marks`);
					return await store.record(wanted);
				}),
			remove: async (gone: string[]) => await touch(async () => await store.remove(gone)),
		};
		const identity = { ...RUN, ...more.identity };
		const ledger = new OrderLedger({ store: more.memory ?? {}, executionId, runIndex: 0 });
		const scope = {
			...{ establishedAtMs: Number(identity.establishedAtMs), executionId, runIndex: 0, isRetry },
		};
		const marks = new Marks(scope, ledger, slow);
		const told: string[] = [];
		const rows = new RowBudget(clock);
		const ports: JournalPorts = {
			...{ identity, isRetry, handedOver, isOld: more.isOld ?? false, table, marks, rows, ledger },
			columns: { ...columns, execution: executionId },
			pace: { turnInMs: 0, spacingMs: 10 },
			clock: { ...clock, now: () => clock.now() - (troubles.clockIsBehindMs ?? 0) },
			tell: (why) => void told.push(why),
		};
		let journal = new Journal(ports);

		const create = async ({ item }: Order, answer: ReturnType<typeof answers>) => {
			await assertAlive();
			steps.push(`${executionId} sends ${item}`);
			await takes();
			const id = `task ${answer === 'accepted' || answer === 'lost' ? bought.push(item) : 0}`;
			await unlessDead(takes());
			return id;
		};
		const work = async (
			order: Order,
			{ signal, beforeSend }: CreateAttempt,
			how?: () => Promise<string>,
		): Promise<{ id: string }> => {
			if (signal?.aborted) throw stoppedError();
			beforeSend?.();
			const answer = answers(order);
			const id = await (how === undefined ? create(order, answer) : unlessDead(how()));
			if (answer === 'accepted') return { id };
			if (answer === 'lost') throw unknownOutcome('task', 'The connection was lost');
			if (answer === 'refused') throw gatewayError('keyRefused', {}, { httpStatus: 401 });
			throw gatewayError('rateLimited', {}, { httpStatus: 429, retryAfterMs: 1_000, again: {} });
		};
		const buy = async (order: Order, { how, signal = new AbortController().signal, timeoutMs, sleep }: Buying = {}) => {
			const creation: Creation<{ id: string }> = {
				status: 'queued',
				send: async (_, attempt) => await work(order, attempt, how),
			};
			if (timeoutMs !== undefined && order.wait !== undefined) order.wait.timeoutMs = timeoutMs;
			await buyOnce(
				order,
				creation,
				{
					...{ ledger, writeAhead: journal, clock, sleep },
					client: timeoutMs === undefined ? {} : { places: new AccountPlaces(clock).ofRun() },
					events: { accepted: () => {}, unclear: () => {}, continued: () => {}, finished: () => {} },
					filesOf: () => new Map(),
					uploadImage: async () => await Promise.resolve(''),
				},
				{
					...{ signal, heldBack: () => undefined },
					submitting: async (send) => await send(signal, () => {}),
					uploading: async (upload) => await upload(),
					delivering: async (deliver) => await deliver(),
				},
			);
			return order.task?.taskId;
		};
		return {
			...{ marks, ledger, troubles, told, buy, died, rows, ports },
			memory: ledger.scope.store,
			get journal() {
				return journal;
			},
			/** No other execution goes on with the run that it has handed over. */
			takeBack: () => void (journal = journal.takenBack()),
			kill: () => {
				isDead = true;
				die();
			},
			/** The whole run of these orders. Returns the end of each: its task, or the name of its error. */
			run: async (orders: Order[]) => {
				await journal.takeOver(orders);
				const ends = new Map<Order, string>();
				const buyAll = async (which: Order[]) =>
					await Promise.all(which.map(async (order) => ends.set(order, await endOf(buy(order)))));
				const unsettled = orders.filter((order) => journal.isUnsettled(order));
				await buyAll(orders.filter((order) => !journal.isUnsettled(order)));
				if (unsettled.length > 0) await journal.settle();
				await buyAll(unsettled);
				await journal.end(orders);
				return orders.map((order) => ends.get(order) ?? 'nothing');
			},
		};
	};
	/** The rows of an execution, each as its state and what tells it apart. */
	const rowsOf = (executionId: string) =>
		visible
			.filter(({ execution }) => execution === executionId)
			.map(({ state, number, item, code }) =>
				[state, number === null ? `of ${item}` : `#${number} of ${item}`, code].filter(Boolean).join(' '),
			);
	/** A person clears the table. */
	const clear = () => {
		visible.length = 0;
		if (isSqlite) ids = 0;
		steps.push('cleared');
	};
	return { clock, names, clear, visible, bought, steps, start, rowsOf, run: clock.run };
}

interface Buying {
	/** In the place of the service. */
	how?: () => Promise<string>;
	signal?: AbortSignal;
	timeoutMs?: number;
	/** The execution sleeps in n8n's database. */
	sleep?: SleepCoordinator;
}

export const planned = (item = 0, more: Partial<OrderDraft> = {}): Order =>
	makeOrder({
		...{ item, thing: 'task', kind: 'image', then: 'poll' },
		wait: { plan: { kind: 'automatic' }, timeoutMs: 600_000 },
		request: { body: {}, hash: `hash ${item}` },
		...more,
	});

export const nameOfError = (error: GatewayError) => error.details.reason?.name ?? error.kind;

/** The end of the work: a task, or the name of its error. */
export const endOf = async (work: Promise<string | undefined>) =>
	await work.then(
		(task) => task ?? 'nothing',
		(error: GatewayError) => nameOfError(error),
	);
