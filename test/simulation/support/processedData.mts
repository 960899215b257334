import type { Story } from './story.mts';
import type { Time } from './time.mts';

const READ_MS = 2;
const WRITE_MS = 3;
/** A retry asks for more. */
const MARKS_OF_A_TRY = 4;
/** Marks of other runs, as many as the product lets n8n keep. */
const FULL = Array.from(
	{ length: 5000 },
	(_, index) => `generation-gateway established ${index}, run 0, try 0, slot 0`,
);

/**
 * n8n's table of processed data: one row of marks for the node, which is read, changed and written as a whole, without
 * a lock.
 */
export class ProcessedData {
	private row: Set<string>;

	private uses = 0;

	/** Whose last use has failed: it is tried once more. */
	private readonly failedOnce = new Set<string>();

	/**
	 * @param failing which uses fail, from 0
	 * @param isFull as many names of others are there as n8n may keep
	 * @param story gets what tells each execution whose mark was not written, or whose write was undone by another process
	 */
	constructor(
		private readonly time: Time,
		private readonly failing: readonly number[],
		private readonly story: Story,
		isFull = false,
	) {
		this.row = new Set(isFull ? FULL : []);
	}

	/** `owner`: what the marks are of. */
	helpersFor(owner: string) {
		return {
			checkProcessedAndRecord: async (names: string[], _scope: string, { maxEntries }: { maxEntries: number }) => {
				const read = await this.read(owner);
				const processed = names.filter((name) => read.has(name));
				names.forEach((name) => read.add(name));
				for (const oldest of read) {
					if (read.size <= maxEntries) break;
					read.delete(oldest);
					this.story.visit('a full table of marks');
				}
				if (names.length > MARKS_OF_A_TRY) this.story.leftByQuestions.add(owner);
				await this.write(read, names);
				this.failedOnce.delete(owner);
				return { new: names.filter((name) => !processed.includes(name)), processed };
			},
			removeProcessed: async (names: string[]) => {
				const read = await this.read();
				names.forEach((name) => read.delete(name));
				await this.write(read, names);
				this.story.leftByQuestions.delete(owner);
			},
		};
	}

	/** Fails as planned. When the second try fails, too, the node goes on without a mark. */
	private async read(owner?: string): Promise<Set<string>> {
		await this.time.pass(READ_MS);
		if (this.failing.includes(this.uses++)) {
			this.story.visit('a mark that cannot be written');
			if (owner !== undefined) (this.failedOnce.has(owner) ? this.story.unguarded : this.failedOnce).add(owner);
			throw new Error('the database is busy');
		}
		return new Set(this.row);
	}

	private async write(row: Set<string>, changed: string[]): Promise<void> {
		const before = this.row;
		await this.time.pass(WRITE_MS);
		if (this.row !== before) {
			const lost = (from: Set<string>, to: Set<string>) =>
				[...from]
					.filter((name) => !to.has(name) && !changed.includes(name))
					.map((name) => /established \d+|execution \w+/.exec(name)?.[0] ?? '');
			for (const owner of lost(this.row, row)) this.story.unguarded.add(owner);
			for (const owner of lost(row, this.row)) this.story.careful.add(owner);
		}
		this.row = row;
	}
}
