/** The durations of tasks: the guess before the first one, and the lesson of each. */
import fc from 'fast-check';
import { BINS, SurvivalTable, type Observation } from '../../core/polling/survivalTable';
import { survivalTableOf } from '../../core/polling/survivalTables';

const sharesOf = (table: SurvivalTable) => BINS.map((_, index) => table.shareFinished(index));
const close = (values: number[]) => values.map((value) => expect.closeTo(value, 9));
const binAt = (ageMs: number) => BINS.findIndex(({ fromMs, toMs }) => fromMs <= ageMs && ageMs < toMs);

describe('ages', () => {
	test('ages are divided without a gap, from 0 to a day, more finely where tasks are young', () => {
		expect(BINS[0]).toEqual({ fromMs: 0, toMs: 500 });
		for (const [index, { fromMs, toMs }] of BINS.slice(1).entries()) {
			expect(fromMs).toBe(BINS[index].toMs);
			expect(toMs / fromMs).toBeCloseTo(1.3, 9);
		}
		const last = BINS[BINS.length - 1];
		expect([last.fromMs < 86_400_000, last.toMs >= 86_400_000]).toEqual([true, true]);
	});

	test('with nothing learned, each order of magnitude between a second and half an hour is equally likely', () => {
		const table = new SurvivalTable();
		let alive = 1;
		for (const [index, { toMs }] of BINS.entries()) {
			alive *= 1 - table.shareFinished(index);
			if (toMs <= 1_000) expect(alive).toBe(1);
			else if (toMs <= 900_000) expect(alive).toBeCloseTo(Math.log(1_800_000 / toMs) / Math.log(1_800), 9);
		}
		// Older than that, always the same share.
		const old = sharesOf(table).slice(binAt(900_000) + 1);
		expect(old).toEqual(old.map(() => expect.closeTo(Math.log2(1.3), 9)));
	});
});

/** The same as a plain account: what each task adds to each bin counts 0.9 as much with each task that has finished since. */
class Account {
	private readonly fresh = new SurvivalTable();

	private entries: Array<{ of: symbol; bin: number; reached: number; finished: number; finishedBefore: number }> = [];

	private finishedTasks = 0;

	private readonly checkedMs = new Map<symbol, number>();

	shares(): number[] {
		let priorReached = 0.5;
		return BINS.map((_, index) => {
			const priorFinished = priorReached * this.fresh.shareFinished(index);
			let [reached, finished] = [priorReached, priorFinished];
			for (const entry of this.entries) {
				if (entry.bin !== index) continue;
				const weight = 0.9 ** (this.finishedTasks - entry.finishedBefore);
				reached += weight * entry.reached;
				finished += weight * entry.finished;
			}
			priorReached -= priorFinished;
			return finished / reached;
		});
	}

	pending(of: symbol, ageMs: number): void {
		const checkedMs = this.checkedMs.get(of) ?? 0;
		for (const [bin, { toMs }] of BINS.entries())
			if (checkedMs < toMs && toMs <= ageMs)
				this.entries.push({ of, bin, reached: 1, finished: 0, finishedBefore: this.finishedTasks });
		this.checkedMs.set(of, Math.max(checkedMs, ageMs));
	}

	finished(of: symbol, toMs: number): void {
		const fromMs = this.checkedMs.get(of) ?? 0;
		if (toMs <= fromMs) return;
		const shares = this.shares();
		const within = BINS.map(
			(bin) => Math.max(0, Math.min(toMs, bin.toMs) - Math.max(fromMs, bin.fromMs)) / (bin.toMs - bin.fromMs),
		);
		let alive = 1;
		const masses = within.map((part, bin) => {
			if (part === 0) return 0;
			const mass = Math.max(alive * shares[bin], 1e-6) * part;
			alive *= 1 - shares[bin];
			return mass;
		});
		const all = masses.reduce((sum, mass) => sum + mass, 0);
		this.finishedTasks++;
		let reached = 1;
		for (const [bin, mass] of masses.entries()) {
			if (within[bin] === 0) continue;
			this.entries.push({ of, bin, reached, finished: mass / all, finishedBefore: this.finishedTasks });
			reached = Math.max(0, reached - mass / all);
		}
	}

	abandoned(of: symbol): void {
		this.entries = this.entries.filter((entry) => entry.of !== of);
	}
}

const age = fc.oneof(
	fc.double({ min: 0, max: 6, noNaN: true }).map((exponent) => 100 * 10 ** exponent),
	fc.nat(30).map((index) => BINS[index].toMs),
);
const event = fc.record({
	task: fc.nat(3),
	ageMs: age,
	what: fc.constantFrom('pending', 'pending', 'finished', 'abandoned'),
});

test('what is learned is what each task has outlived, and where it has probably finished', () => {
	fc.assert(
		fc.property(fc.array(event, { maxLength: 25 }), (events) => {
			const [table, account] = [new SurvivalTable(), new Account()];
			const begun = new Map<number, { life: Observation; of: symbol }>();
			for (const { task, ageMs, what } of events) {
				const { life, of } = begun.get(task) ?? { life: table.begin(), of: Symbol(task) };
				begun.set(task, { life, of });
				if (what === 'pending') life.pending(ageMs);
				else if (what === 'finished') life.finished(ageMs);
				else life.abandoned();
				if (what === 'pending') account.pending(of, ageMs);
				else if (what === 'finished') account.finished(of, ageMs);
				else account.abandoned(of);
				if (what !== 'pending') begun.delete(task);
				expect(table.running).toBe(begun.size);
				for (const each of begun.values()) expect(each.life.running).toBe(begun.size);
			}
			expect(sharesOf(table)).toEqual(close(account.shares()));
		}),
		{ numRuns: 150, seed: 31, endOnFailure: true },
	);
});

test('a task whose end was seen exactly when it was last seen running teaches nothing', () => {
	const table = new SurvivalTable();
	const life = table.begin();
	life.pending(5_000);
	const before = sharesOf(table);
	life.finished(5_000);
	expect(sharesOf(table)).toEqual(before);
	expect(table.running).toBe(0);
});

test('a task comes to its end once', () => {
	const table = new SurvivalTable();
	const life = table.begin();
	life.pending(5_000);
	life.finished(6_000);
	const before = sharesOf(table);
	life.abandoned();
	life.finished(9_000);
	expect(sharesOf(table)).toEqual(before);
	expect(table.running).toBe(0);
});

test('there is one table for each service, kind and model, and 200 at most', () => {
	const first = survivalTableOf('https://a.example', 'video', 'm');
	const used = survivalTableOf('https://a.example', 'image', 'm');
	expect(survivalTableOf('https://a.example', 'video', 'm')).toBe(first);
	for (const other of [
		['https://b.example', 'video', 'm'],
		['https://a.example', 'image', 'm'],
		['https://a.example', 'video', 'n'],
		['https://a.example', 'videom', ''],
	]) {
		expect(survivalTableOf(...other)).not.toBe(first);
	}
	const others = Array.from({ length: 199 }, (_, other) => {
		expect(survivalTableOf('https://a.example', 'image', 'm')).toBe(used);
		return survivalTableOf('https://c.example', 'image', String(other));
	});
	// The one that was not used for longest has made room, and no other.
	expect(survivalTableOf('https://a.example', 'image', 'm')).toBe(used);
	expect(
		others.filter((table, other) => survivalTableOf('https://c.example', 'image', String(other)) !== table),
	).toEqual([]);
	expect(survivalTableOf('https://a.example', 'video', 'm')).not.toBe(first);
});
