import { SAME_IN_PIPELINES } from '../support/propertySettings.mts';
import fc from 'fast-check';
import { gatewayError } from '../../core/errors';
import { WriteAheadLog } from '../../core/orders/writeAheadLog';
import { OrderLedger } from '../../core/orders/ledger';
import { storeOfNames } from './support';

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
	/** Nobody has gone on from here, and nothing of this name has died. */
	isLatest: boolean;
	/** Its worker has died, and nobody has gone on from here. */
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
		{ numRuns: 3000, ...SAME_IN_PIPELINES },
	);
});

test('a request that is still under way at the end is remembered as one', async () => {
	const store = {};
	const names = new Set<string>();
	const ledger = new OrderLedger({ store, executionId: '1', runIndex: 0 });
	const writeAhead = new WriteAheadLog(
		{ execution: 'established 1', isLasting: true, executionId: '1', runIndex: 0, isRetry: false },
		ledger,
		storeOfNames(names),
	);
	void writeAhead.guard({ thing: 'task', request: { submitAgain: false } }, async () => await new Promise(() => {}));
	await writeAhead.declare({ thing: 'task' });
	await writeAhead.end();
	expect(ledger.knownTries).toBe(0);
	expect(names.size).toBe(2);
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
