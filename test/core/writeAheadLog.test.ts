/** The names that a try writes before it submits, when it removes them, and the decision of a later try. */
import fc from 'fast-check';
import { readPropertySettings } from '../support/propertySettings.mts';
import { gatewayError, GatewayError } from '../../core/errors';
import {
	INTERRUPTED,
	WriteAheadLog,
	type WriteAheadStore,
	type WriteAheadScope,
} from '../../core/orders/writeAheadLog';
import { OrderLedger } from '../../core/orders/ledger';
import { storeOfNames } from './support';

const { seed, runs = 400, path } = readPropertySettings('crashes');

/** The names that survive a crash. */
class Names {
	readonly set = new Set<string>();

	readonly asked: string[][] = [];

	isBroken = false;

	constructor(...names: string[]) {
		names.forEach((name) => this.set.add(name));
	}

	readonly record: WriteAheadStore = {
		record: async (names) => {
			this.asked.push(names);
			if (this.isBroken) throw new Error('database is locked');
			return await storeOfNames(this.set).record(names);
		},
		remove: async (names) => {
			if (this.isBroken) throw new Error('database is locked');
			await storeOfNames(this.set).remove(names);
		},
	};

	get all(): string[] {
		return [...this.set].sort();
	}
}

function start(
	names: Pick<Names, 'record'> | undefined,
	scope: Partial<WriteAheadScope> = {},
	store: Record<string, unknown> = {},
) {
	const full = { execution: 'established 1', isLasting: true, executionId: '1', runIndex: 0, isRetry: false, ...scope };
	const ledger = new OrderLedger({ store, executionId: full.executionId, runIndex: full.runIndex });
	return { ledger, writeAhead: new WriteAheadLog(full, ledger, names?.record) };
}

const own = (executionId = '1', ofTry = 'run 0, try 0') => `generation-gateway execution ${executionId}, ${ofTry}`;
const slot = (number: number, ofTry = 'run 0, try 0') => `generation-gateway established 1, ${ofTry}, slot ${number}`;

const accepted = async () => 'task-1';
const buy = async (
	{ writeAhead }: ReturnType<typeof start>,
	send: () => Promise<unknown> = accepted,
	submitAgain = false,
) =>
	await writeAhead.guard({ thing: 'task', request: { submitAgain } }, send).then(
		(answer) => ({ answer, error: undefined }),
		(error: GatewayError) => ({ answer: undefined, error }),
	);
const retry = { isRetry: true, executionId: '2' };

describe('before the first request', () => {
	test('executions of one name take a slot each', async () => {
		const names = new Names(slot(0), slot(1));
		expect((await buy(start(names))).answer).toBe('task-1');
		expect(names.asked).toEqual([[own(), slot(0)], [slot(1)], [slot(2)]]);
		expect(names.all).toEqual([own(), slot(0), slot(1), slot(2)].sort());
	});

	test.each<[string, Names | undefined, Partial<WriteAheadScope>]>([
		['cannot be written', Object.assign(new Names(), { isBroken: true }), {}],
		['does not exist', undefined, {}],
		['does not exist for a retry', undefined, retry],
	])('a record that %s holds up no execution', async (_, names, scope) => {
		const one = start(names, scope);
		expect((await buy(one)).answer).toBe('task-1');
		await one.writeAhead.end();
		expect(one.ledger.knownTries).toBe(0);
	});
});

describe('a later try that meets the names of an earlier one', () => {
	test.each<[string, Partial<WriteAheadScope>, string[]]>([
		['under the same ID', {}, [own()]],
		['under the same ID, with the slot', {}, [own(), slot(0)]],
		['as a retry, whichever slot it was', retry, [slot(0)]],
		['as a retry, in the last slot', retry, [slot(15)]],
		['as a retry under the same ID', { isRetry: true }, [own()]],
	])('a later try that meets the names of an earlier one submits nothing: %s', async (_, scope, left) => {
		const names = new Names(...left);
		const one = start(names, scope);
		const send = jest.fn();
		const { error } = await buy(one, send);
		expect(error?.details.reason).toMatchObject({
			name: 'outcomeStillUnknown',
			data: {
				thing: 'task',
				what: INTERRUPTED,
			},
		});
		expect(send).not.toHaveBeenCalled();
		// The next try must meet them, too.
		await one.writeAhead.end();
		expect(names.all).toEqual(expect.arrayContaining(left));
		expect(one.ledger.knownTries).toBe(0);
	});

	test('a retry that cannot read the names submits nothing, and says so', async () => {
		const names = Object.assign(new Names(), { isBroken: true });
		const { error } = await buy(start(names, retry));
		expect(error?.details.reason).toMatchObject({
			data: { what: 'n8n could not read its record of what an earlier try of this execution submitted.' },
		});
	});
});

describe('at the end', () => {
	test('a stop does not wait for the record', async () => {
		const one = start({ record: { record: async () => await new Promise(() => {}), remove: async () => {} } });
		void buy(one);
		const stop = new AbortController();
		const ending = one.writeAhead.end(stop.signal);
		stop.abort();
		await ending;
		expect(one.ledger.knownTries).toBe(0);
	});
});

/** The service's answer to the request of one item. */
type Answer = 'accepted' | 'refused' | 'lost';

interface Try {
	answers: Answer[];
	/** `middle`: n8n dies with the last of these answers on its way; `after`: before it has saved what the node did. */
	dies?: 'middle' | 'after';
}

interface Step {
	/** The state of the execution that it starts from; beyond them: a new execution. */
	from: number;
	/** Executions that begin in the same millisecond have one name. */
	millisecond: number;
	/** n8n 1.x: not as a retry, but under its own ID. */
	byAnotherWorker: boolean;
	/** Retry On Fail. */
	tries: Try[];
}

/** Something that n8n can start from. */
interface State {
	/** The first of its retries. */
	origin: number;
	executionId: string;
	millisecond: number;
	store: Record<string, unknown>;
	/** No execution has gone on from here, and nothing of this name has died. */
	isLatest: boolean;
	/** Its worker has died, and no execution has gone on from here. */
	isStalled: boolean;
}

class World {
	readonly names = new Set<string>();

	/** "origin item" of everything that was bought. */
	readonly bought: string[] = [];

	readonly states: State[] = [];

	readonly problems: string[] = [];

	private executions = 0;

	private readonly record = storeOfNames(this.names);

	async play({ from, millisecond, byAnotherWorker, tries }: Step): Promise<void> {
		const known = this.states[from];
		const ownId = byAnotherWorker && known?.isStalled === true;
		if (known !== undefined) known.isStalled = false;
		const executionId = ownId ? known.executionId : String(++this.executions);
		const start: State = known ?? {
			origin: this.executions,
			executionId,
			millisecond,
			store: {},
			isLatest: false,
			isStalled: false,
		};
		const at: State = { ...start, executionId, store: structuredClone(start.store), isLatest: known?.isLatest ?? true };
		const mayBeHeldUp = !at.isLatest;
		const ofName = () => this.states.filter((state) => state.millisecond === at.millisecond);
		for (const each of ofName()) if (each.origin === at.origin) each.isLatest = false;
		const begun = known ?? { ...start, store: {} };
		if (known === undefined) this.states.push(begun);
		for (const one of tries) {
			const heldUp = await this.runOnce(at, known !== undefined && !ownId, one);
			if (heldUp && !mayBeHeldUp) this.problems.push(`execution ${executionId} is held up`);
			if (one.dies !== undefined) {
				for (const each of ofName()) each.isLatest = false;
				begun.isStalled = begun.executionId === executionId;
				return;
			}
		}
		this.states.push(at);
		// A retry may take the try of another execution with its name for its own: too careful, but never too late.
		const isShared = ofName().some(({ origin }) => origin !== at.origin);
		if (isShared) for (const each of ofName()) each.isLatest = false;
	}

	private async runOnce(
		{ origin, executionId, millisecond, store }: State,
		isRetry: boolean,
		{ answers, dies }: Try,
	): Promise<boolean> {
		const ledger = new OrderLedger({ store, executionId, runIndex: 0 });
		const writeAhead = new WriteAheadLog(
			{ execution: `established ${millisecond}`, isLasting: true, executionId, runIndex: 0, isRetry },
			ledger,
			this.record,
		);
		let heldUp = false;
		for (const [item, answer] of answers.entries()) {
			if (ledger.find(item, 'hash') !== undefined) continue;
			const isOnItsWay = dies === 'middle' && item === answers.length - 1;
			const send = async () => {
				if (answer === 'refused') throw gatewayError('requestRejected', {});
				this.bought.push(`${origin} ${item}`);
				if (isOnItsWay) return;
				if (answer === 'accepted') return ledger.accepted(item, { hash: 'hash', taskId: 'id', acceptedAtMs: 0 });
				ledger.outcomeUnknown(item, 'hash', 0);
				throw gatewayError('outcomeUnknown', { thing: 'task', what: 'it got lost' });
			};
			await writeAhead.guard({ thing: 'task', request: { submitAgain: false } }, send).catch(({ details }) => {
				heldUp ||= details.reason.name === 'outcomeStillUnknown';
			});
		}
		if (dies !== 'middle') await writeAhead.end();
		return heldUp;
	}
}

const oneTry: fc.Arbitrary<Try> = fc.record({
	answers: fc.array(fc.constantFrom<Answer[]>('accepted', 'refused', 'lost'), { minLength: 1, maxLength: 3 }),
	dies: fc.constantFrom(undefined, undefined, 'middle', 'after'),
});
const step: fc.Arbitrary<Step> = fc.record({
	from: fc.nat(8),
	millisecond: fc.nat(1),
	byAnotherWorker: fc.boolean(),
	tries: fc.array(oneTry, { minLength: 1, maxLength: 3 }),
});

test('whatever dies and whatever is retried, each item is bought once, and nothing else is held up', async () => {
	await fc.assert(
		fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 10 }), async (steps) => {
			const world = new World();
			for (const each of steps) await world.play(each);
			expect(world.bought).toEqual([...new Set(world.bought)]);
			expect(world.problems).toEqual([]);
		}),
		{ seed, path, numRuns: runs },
	);
});

test('orders that go on elsewhere keep the name, although nothing was submitted here: a second retry submits nothing', async () => {
	const store = storeOfNames(new Set());
	const retry = (executionId: string) => {
		const scope = { execution: 'crashed', isLasting: true, executionId, runIndex: 0, isRetry: true };
		return new WriteAheadLog(scope, new OrderLedger({ store: {}, executionId, runIndex: 0 }), store);
	};
	const first = retry('2');
	await first.defer({ thing: 'task' });
	await first.end();
	await expect(retry('3').declare({ thing: 'task' })).rejects.toThrow('in an earlier try');
});
