/** The item loop of a run, without n8n: what is read before anything is sent, what comes of each item, and how a run ends. */
import type { IDataObject, NodeApiError } from 'n8n-workflow';
import { GatewayError, gatewayError } from '../../core/errors';
import type { Ports } from '../../core/orders/advance';
import { FirstWave } from '../../core/orders/firstWave';
import type { Order } from '../../core/orders/order';
import type { Product } from '../../core/orders/product';
import { realClock } from '../../nodes/connection/transport';
import type { Item, Work } from '../../nodes/run/item';
import { portsOf, type Run } from '../../nodes/run/run';
import { goesOn, refuseAll, runItems, toItems, type ItemsToRun } from '../../nodes/run/runItems';
import type { Worked } from '../../nodes/run/toItem';
import { flushPromises, trouble } from '../core/support';
import { done, durableRun } from '../support/durableRun.mts';
import { lightContext, NODE, untilDone, type LightOptions } from '../support/lightContext.mts';
import { acceptedOrder, batchOf, plannedOrder } from '../support/orders.mts';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

const bought = (item: number, more = {}) => plannedOrder(item, { then: 'nothing', ...more });
/** The error of the creating request, by item. */
type Refusals = Record<number, GatewayError>;

interface Given extends LightOptions, Partial<Pick<ItemsToRun, 'describes' | 'onPrepared'>> {
	/** The work of each item, or the error of its form. */
	works: Array<Work | GatewayError>;
	refusals?: Refusals;
	continues?: boolean;
	run?: Partial<Run>;
	writeAhead?: object;
	errorContext?: object;
	ports?: (orders: Order[], ports: Ports) => Ports | undefined;
	/** Called before each request. */
	sending?: (order: Order) => void | Promise<void>;
}

/** A run of these works, and what happened in it. */
function itemRun({ works, refusals = {}, continues = false, describes, sending, ...given }: Given) {
	const { run, happened, ...light } = durableRun({
		input: works.map((_, index) => ({ json: { index } })),
		...given,
		more: { continueOnFail: () => continues, ...given.more },
		run: { limits: { concurrency: 10 }, batch: undefined, client: {}, progress: {}, ...given.run },
	});
	const product: Product<{ id: string }, unknown> = {
		status: 'queued',
		create: async (order) => {
			happened.push(`sent ${order.item}`);
			await sending?.(order);
			if (refusals[order.item] !== undefined) throw refusals[order.item];
			return await Promise.resolve({ id: `task-${order.item}` });
		},
		output: ({ task }) => ({ json: { task_id: task?.taskId } }),
	};
	const prepare = async (item: Item) => {
		const work = works[item.index] as Work | GatewayError;
		if (work instanceof GatewayError) throw work;
		return await Promise.resolve(work);
	};
	const items: ItemsToRun = {
		errorContext: { node: NODE, operation: 'generate', ...given.errorContext },
		describes,
		prepare,
		ports: (orders) => (given.ports ?? ((_, ports) => ports))(orders, portsOf(run, product, orders.length)),
		onPrepared: given.onPrepared ?? (async () => {}),
	};
	return { ...light, run, happened, runIt: async () => await untilDone(runItems(run, items)) };
}

const run = async (given: Given) => {
	const { runIt, ...more } = itemRun(given);
	return { ...more, worked: await runIt() };
};

/** The error that the node throws. */
const failed = async (given: Given) => {
	const { runIt, happened } = itemRun(given);
	const error = await runIt().then(
		() => undefined,
		(thrown: unknown) => thrown as NodeApiError,
	);
	return { happened, message: error?.message, text: error?.description ?? '', error };
};

const noPrompt = () => gatewayError('fieldEmpty', { label: 'Prompt', enter: 'Enter it.' });
/** Whoever works on it must not change it. */
const read = (json: IDataObject, more = {}): Work =>
	Object.freeze({ read: async () => await Promise.resolve({ json }), ...more });

describe('the forms of all items are read before anything is sent', () => {
	test('one mistake in a form refuses all items, and names the others that have one, too', async () => {
		const works = [bought(0), noPrompt(), bought(2), trouble('badInput'), trouble('badInput')];
		const { error, message, text, happened } = await failed({ works });
		expect(error?.context.itemIndex).toBe(1);
		expect(message).toContain('Prompt');
		expect(text).toContain('Items 3, 4 also have values that are not allowed.');
		expect(happened).toEqual([]);
		expect((await failed({ works: works.slice(0, 3) })).text).not.toContain('also');
	});

	test('with Continue, an item with a mistake in its form fails alone', async () => {
		const works = [bought(0), noPrompt()];
		const { worked, happened } = await run({ works, continues: true });
		expect(worked).toMatchObject([{ output: { json: { task_id: 'task-0' } } }, { error: works[1] }]);
		expect(worked?.[1]).not.toHaveProperty('order.item');
		expect(happened).toEqual(['sent 0', 'ended']);
	});

	test('the orders are made known before they are sent, together with what earlier tries have left of them', async () => {
		const works = [bought(0), read({ a: 1 }), bought(2)];
		const heard: unknown[] = [];
		const purchases = {
			continueEarlierTries: async (orders: Order[], ledger: unknown) => {
				await flushPromises();
				heard.push(['earlier', orders, ledger === light.run.ledger]);
			},
			end: async (orders: Order[]) => await Promise.resolve(void heard.push(['end', orders])),
		};
		const onPrepared = async (orders: Order[]) => {
			await flushPromises();
			heard.push(['prepared', orders]);
		};
		const sending = ({ item }: Order) => void heard.push(['sent', item]);
		const ports = (orders: Order[], { product, ...more }: Ports) => {
			heard.push(['ports', orders]);
			return { ...more, product: { ...product, record: undefined } };
		};
		const light = itemRun({ works, onPrepared, sending, ports, run: { purchases: purchases as never } });
		await light.runIt();
		const orders = [works[0], works[2]];
		expect(heard.slice(0, 2)).toEqual(
			expect.arrayContaining([
				['prepared', orders],
				['earlier', orders, true],
			]),
		);
		expect(heard.slice(2)).toEqual([
			['ports', orders],
			['sent', 0],
			['sent', 2],
			['end', orders],
		]);
	});

	test('n8n can do other things while many forms are read, and a stop then ends the run', async () => {
		const prepared: number[] = [];
		const light = itemRun({ works: [read({}), read({}), read({})] });
		const work = (index: number) => {
			prepared.push(index);
			jest.advanceTimersByTime(20);
		};
		const items: ItemsToRun = {
			errorContext: { node: NODE },
			prepare: ({ index }) => {
				work(index);
				return read({ index });
			},
			ports: () => undefined,
			onPrepared: async () => await Promise.reject(new Error('too late')),
		};
		const running = runItems(light.run, items);
		await flushPromises();
		expect(prepared).toEqual([0]);
		await jest.advanceTimersByTimeAsync(1);
		expect(prepared).toEqual([0, 1]);
		light.stop.abort();
		expect(await untilDone(running)).toBeUndefined();
		expect(prepared).toEqual([0, 1]);
		expect(light.happened).toEqual([]);
	});

	test('a run that is stopped before it begins reads nothing and sends nothing', async () => {
		const light = itemRun({ works: [noPrompt()], continues: true });
		light.stop.abort();
		expect(await light.runIt()).toBeUndefined();
		expect(light.happened).toEqual([]);
	});

	test('a run without a cancel signal is not stopped', async () => {
		const more = { getExecutionCancelSignal: () => undefined };
		const writeAhead = { end: async () => await Promise.resolve() };
		const { worked } = await run({ works: [bought(0)], more, writeAhead });
		expect(worked).toMatchObject([{ output: { json: { task_id: 'task-0' } } }]);
	});
});

describe('fields of the input item', () => {
	const parameters = { options: { includeInputFields: true } };
	const input = [{ json: { a: 1, error: 'old', task_id: 'other', url: 'u' } }];

	test('fields of the input are passed on where they are wanted, but for those that describe another task', async () => {
		const works = () => [read({ b: 2 })];
		expect((await run({ works: works(), input, parameters })).worked?.[0]?.input).toEqual({
			...{ a: 1, task_id: 'other', url: 'u' },
		});
		expect((await run({ works: works(), input, parameters, describes: 'task' })).worked?.[0]?.input).toEqual({
			a: 1,
		});
		expect((await run({ works: works(), input })).worked?.[0]?.input).toBeUndefined();
	});

	test('fields of the input go with the order, unless it has some already', async () => {
		const orders = [bought(0), bought(1, { input: { kept: true } })];
		const { worked } = await run({ works: orders, input: [...input, ...input], parameters, describes: 'task' });
		expect(worked?.map((each) => each.input)).toEqual([{ a: 1 }, { kept: true }]);
		expect(orders.map((order) => order.input)).toEqual([{ a: 1 }, { kept: true }]);
	});

	test('files of the input are passed on with its fields by what creates nothing and reads no task', async () => {
		const binary = { data: { data: 'YQ==', mimeType: 'image/png' } };
		const filesOf = async (given: Omit<Given, 'input'>) =>
			(await run({ ...given, input: [{ json: { a: 1 }, binary }] })).worked?.[0]?.inputFiles;
		const fails: Work = { read: async () => await Promise.reject(trouble('unavailable')) };
		expect(await filesOf({ works: [read({ b: 2 })], parameters })).toBe(binary);
		expect(await filesOf({ works: [fails], parameters, continues: true })).toBe(binary);
		expect(await filesOf({ works: [read({ b: 2 })] })).toBeUndefined();
		expect(await filesOf({ works: [read({ b: 2 })], parameters, describes: 'task' })).toBeUndefined();
		expect(await filesOf({ works: [read({ b: 2 })], parameters, describes: 'asset' })).toBe(binary);
		expect(await filesOf({ works: [bought(0)], parameters })).toBeUndefined();
		const waits = () => ({ ...done(0), request: undefined });
		expect(await filesOf({ works: [waits()], parameters, describes: 'asset' })).toBe(binary);
		expect(await filesOf({ works: [waits()], parameters, describes: 'task' })).toBeUndefined();
	});

	test('files of the input are there for an item whose form has a mistake, also where no item can be read', async () => {
		const binary = { data: { data: 'YQ==', mimeType: 'image/png' } };
		const mistaken = { works: [noPrompt()], input: [{ json: { a: 1 }, binary }], parameters, continues: true };
		expect((await run(mistaken)).worked?.[0]?.inputFiles).toBe(binary);
		expect((await run({ ...mistaken, describes: 'task' })).worked?.[0]?.inputFiles).toBeUndefined();
	});

	test('fields of the input are there for an item whose form has a mistake', async () => {
		const { worked } = await run({ works: [noPrompt()], input, parameters, continues: true });
		expect(worked?.[0]?.input).toMatchObject({ a: 1 });
	});

	test('a switch that cannot be read is a mistake of its item', async () => {
		const works = [bought(0)];
		const options = { includeInputFields: 'perhaps' };
		const { worked, happened } = await run({ works, parameters: { options }, continues: true });
		expect(worked?.[0]).toMatchObject({ error: { details: { reason: { name: 'notAChoice' } } } });
		expect(happened).toEqual(['ended']);
	});
});

describe('what comes of each item', () => {
	test('orders are bought, reads are read, in the sequence of the items', async () => {
		const task = { taskId: 'known', elapsedMs: 0 };
		const { worked } = await run({ works: [bought(0), read({ a: 1 }, { task }), done(2)] });
		expect(worked).toMatchObject([
			{ order: { item: 0, state: 'ended' }, task: { taskId: 'task-0' }, output: { json: { task_id: 'task-0' } } },
			{ order: undefined, task, output: { json: { a: 1 } } },
			{ order: { item: 2 }, output: { json: { task_id: 'done' } } },
		]);
		expect(worked?.every((each) => each.error === undefined)).toBe(true);
	});

	test('with Continue, a failed order is in its item with its task, and the others go on', async () => {
		const refusals = { 0: trouble('rejected') };
		const lost: Work = {
			read: async () => await Promise.reject(trouble('notFound')),
			task: { taskId: 'x', elapsedMs: 0 },
		};
		const works = [bought(0), bought(1), lost];
		const { worked, happened } = await run({ works, refusals, continues: true });
		expect(worked?.map(({ error }) => error?.kind)).toEqual(['rejected', undefined, 'notFound']);
		expect([worked?.[0]?.order, worked?.[2]?.task?.taskId]).toEqual([works[0], 'x']);
		expect(happened).toEqual(['sent 0', 'sent 1', 'ended']);
	});

	test('an order that could not be ended has failed, and goes on nowhere', async () => {
		const works = [bought(0), bought(1)];
		const stop = gatewayError('waitingCanceled', {});
		const ports = (_: Order[], { product, ...more }: Ports): Ports => ({
			...more,
			filesOf: ({ item }) => new Map(item === 0 ? [['file', {} as never]] : []),
			writeAhead: {
				...more.writeAhead,
				beforeUploads: async () => await Promise.reject(trouble('unavailable')),
			} as never,
			product: {
				...product,
				explain: () => {
					throw new Error('a mistake in here');
				},
				output: () => {
					throw stop;
				},
			},
		});
		const { worked } = await run({ works, ports, continues: true });
		expect(works.map(({ state }) => state)).toEqual(['planned', 'accepted']);
		expect(worked?.map(({ error }) => error?.kind)).toEqual(['ownMistake', 'stopped']);
		expect(worked?.map(goesOn)).toEqual([false, false]);
	});

	test('no more than Concurrent Tasks are in flight at once', async () => {
		let [inFlight, most] = [0, 0];
		const sending = async () => {
			most = Math.max(most, ++inFlight);
			await flushPromises();
			inFlight--;
		};
		const works = Array.from({ length: 6 }, (_, index) => bought(index));
		await run({ works, sending, run: { limits: { concurrency: 2, requestsPerSecond: 1 } } });
		expect(most).toBe(2);
	});

	test('an operation that only reads needs no ports', async () => {
		const { worked } = await run({ works: [read({ a: 1 })], ports: () => undefined });
		expect(worked).toMatchObject([{ output: { json: { a: 1 } } }]);
	});

	test('an order of an earlier try that waits in another execution is not sent', async () => {
		const works = [bought(0), acceptedOrder(1), bought(2)];
		const background = { executions: { '0.0': 'sub', 'known-1': 'sub' } };
		const heard: Order[][] = [];
		const ports = (orders: Order[], all: Ports) => {
			heard.push(orders);
			return all;
		};
		const { worked, happened } = await run({ works, ports, run: { background: background as never } });
		expect(heard).toEqual([[works[2]]]);
		expect(happened).toEqual(['sent 2']);
		expect(worked?.map(goesOn)).toEqual([true, true, false]);
	});
});

describe('a run whose orders go on in another execution', () => {
	const batch = batchOf({ places: 1 });
	const purchases = (lastSeenRow?: number) =>
		({
			...{ lastSeenRow, continueEarlierTries: async () => {}, end: async () => {} },
			...{ ports: {}, write: async () => {} },
		}) as never;

	test('each order knows the run, and the last row of the purchase log that an earlier try has left', async () => {
		const plain = (_: Order[], ports: Ports) => ({ ...ports, product: { ...ports.product, record: undefined } });
		for (const [lastSeenRow, row] of [
			[7, { lastSeenRow: 7 }],
			[undefined, {}],
		] as const) {
			const works = [acceptedOrder(0), done(1)];
			const own = { ...batch };
			await run({ works, ports: plain, run: { batch: own, purchases: purchases(lastSeenRow) } });
			expect(works.every((order) => order.batch === own)).toBe(true);
			expect(own).toStrictEqual({ ...batch, ...row });
		}
		const works = [bought(0)];
		await run({ works, ports: plain, run: { purchases: purchases(7) } });
		expect(works[0]?.batch).toBeUndefined();
		await expect(run({ works: [done(0)], run: { batch } })).resolves.toBeDefined();
	});

	test('what the first wave does not submit goes on elsewhere, and the run is not over', async () => {
		const works = [plannedOrder(0, { input: { a: 1 } }), plannedOrder(1, { input: { b: 2 } })];
		const { worked, happened } = await run({ works, run: { batch, limits: { concurrency: 1, requestsPerSecond: 1 } } });
		expect(worked).toEqual([
			{ order: works[0], input: { a: 1 }, task: works[0]?.task, output: undefined },
			{ order: works[1], input: { b: 2 } },
		]);
		expect([works.map(({ state }) => state), worked?.map(goesOn)]).toEqual([
			['accepted', 'planned'],
			[true, true],
		]);
		expect(happened).toEqual(['sent 0']);
	});

	test('what failed before goes on nowhere', () => {
		const error = trouble('rejected');
		expect(
			[{ order: acceptedOrder(0) }, { order: acceptedOrder(0), error }, { order: done(0) }, {}].map(goesOn),
		).toEqual([true, false, false, false]);
	});

	test('an order that another one has held back has failed', async () => {
		const works = [plannedOrder(0), plannedOrder(1)];
		const refusals = { 0: trouble('authentication') };
		const limits = { concurrency: 1, requestsPerSecond: 1 };
		const wave = (_: Order[], ports: Ports) => ({ ...ports, firstWave: new FirstWave(realClock, 2, 1) });
		const { worked } = await run({ works, refusals, continues: true, ports: wave, run: { batch, limits } });
		expect(worked?.map(({ error }) => error?.kind)).toEqual(['authentication', 'notSubmitted']);
	});
});

describe('the end of a run', () => {
	test('a stop is in the console, and the run has no output', async () => {
		const light = itemRun({ works: [bought(0), bought(1)], sending: () => light.stop.abort() });
		const before = light.happened;
		expect(await light.runIt()).toBeUndefined();
		expect(before.slice(-2)).toEqual(['ended', 'stopped']);
	});

	test('without Continue, the first failure is the error of the node, with what else was accepted', async () => {
		const refusals = { 1: trouble('rejected', { httpStatus: 400 }) };
		const { error, text, happened } = await failed({ works: [bought(0), bought(1)], refusals });
		expect(error?.context.itemIndex).toBe(1);
		expect(text).toContain('Other tasks: task-0.');
		expect(text).toContain('the other task continues and costs nothing');
		expect(happened).toEqual(['sent 0', 'sent 1', 'ended']);
	});

	test('the words about the rest of a run count its items, and name the execution to retry', async () => {
		const { text } = await failed({
			...{ works: [bought(0), bought(1), bought(2), bought(3)], refusals: { 1: trouble('rejected') } },
			...{ run: { limits: { concurrency: 1, requestsPerSecond: 1 } }, errorContext: { subExecution: '77' } },
		});
		expect(text).toContain('execution 77 of this workflow');
		expect(text).toContain('3 items are submitted');
	});

	test('an item that was held back is not the error of the node while another one is', async () => {
		const { error } = await failed({
			works: [
				{ read: async () => await Promise.reject(trouble('notSubmitted')) },
				{ read: async () => await Promise.reject(trouble('stopped')) },
				{ read: async () => await Promise.reject(trouble('rejected')) },
			],
		});
		expect(error?.context.itemIndex).toBe(2);
		const { error: only } = await failed({
			works: [read({}), { read: async () => await Promise.reject(trouble('notSubmitted')) }],
		});
		expect(only?.context.itemIndex).toBe(1);
	});
});

describe('a run that could not begin', () => {
	const context = (more: LightOptions = {}) =>
		lightContext({ input: [{ json: { a: 1, task_id: 'x' } }, { json: { b: 2 } }], ...more }).context;
	const parameters = { options: { includeInputFields: true } };
	const error = trouble('authentication');

	test('a run that could not begin gives each item its error, and the fields of its input', async () => {
		expect(await refuseAll(context(), error)).toEqual([{ error }, { error }]);
		expect(await refuseAll(context({ parameters }), error)).toEqual([
			{ error, input: { a: 1, task_id: 'x' } },
			{ error, input: { b: 2 } },
		]);
		expect(await refuseAll(context({ parameters }), error, 'task')).toMatchObject([
			{ input: { a: 1 } },
			{ input: { b: 2 } },
		]);
	});

	test('a run that could not begin leaves an item the mistake of its own form', async () => {
		const options = { includeInputFields: 'perhaps' };
		const [refused] = await refuseAll(context({ parameters: { options } }), new Error('n8n has no such credential'));
		expect(refused?.error?.details.reason?.name).toBe('notAChoice');
		const [other] = await refuseAll(context(), new Error('n8n has no such credential'));
		expect(other?.error).toMatchObject({ details: { reason: { data: { words: 'n8n has no such credential' } } } });
	});
});

describe('the items of a run', () => {
	const worked: Worked[] = [{ output: { json: { a: 1 } } }, { error: trouble('rejected') }];
	const itemsOf = async (onError?: string, errorContext = {}) => {
		const { context } = lightContext({
			node: { onError } as never,
			more: { continueOnFail: () => onError !== undefined },
		});
		return await untilDone(toItems(context, worked, errorContext));
	};

	test('each outcome is an item in its place, and one for the error output is marked for old versions of n8n', async () => {
		const regular = await itemsOf('continueRegularOutput');
		expect(regular).toMatchObject([
			{ json: { a: 1 }, pairedItem: { item: 0 } },
			{ json: { error: 'x', code: 'rejected' }, pairedItem: { item: 1 } },
		]);
		expect(Object.getOwnPropertyNames(regular[1])).not.toContain('error');
		const [, failure] = await itemsOf('continueErrorOutput');
		expect(Object.keys(failure?.json ?? {})).toEqual(['error', 'message', 'details']);
		expect(Object.getOwnPropertyDescriptor(failure, 'error')).toMatchObject({ value: 'x', enumerable: false });
	});

	test('the advice in an item is that for its operation', async () => {
		const failure = { error: gatewayError('timedOut', { thing: 'task', id: 'a', after: '1 min' }) };
		const { context } = lightContext();
		const [forPerson] = await toItems(context, [failure], { operation: 'generate' });
		const [forAgent] = await toItems(context, [failure], { operation: 'generate', isTool: true });
		expect(String(forPerson?.json.details)).toContain('create a new workflow');
		expect(String(forAgent?.json.details)).toContain('call a tool');
	});

	test('n8n can do other things while many items are made', async () => {
		const { context } = lightContext();
		const slow = {
			get error() {
				jest.advanceTimersByTime(20);
				return undefined;
			},
		};
		let isOver = false;
		const making = toItems(context, [slow, slow], {}).then(() => (isOver = true));
		await flushPromises();
		expect(isOver).toBe(false);
		await untilDone(making);
	});
});
