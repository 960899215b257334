import type { IExecuteFunctions } from 'n8n-workflow';
import { ByteBudget, type Holding } from '../../core/byteBudget';
import { filesInMemory, learnedStorageLimit } from '../../core/processMemory';

const MIB = 1024 ** 2;

/** The limits of result files and of the hosts that send them. The service names the host, which nothing has checked. */
export const FILE_LIMITS = {
	/** Files of one task. */
	files: 100,
	/** Bytes of all files of a task, as they are stored. */
	bytes: 1024 * MIB,
	/** The same where n8n holds a file in memory, at least while it stores it. */
	bytesInMemory: 512 * MIB,
	/** The time until the file begins, redirects included. Milliseconds, as all that follow. */
	openMs: 60_000,
	/** The longest silence. */
	silenceMs: 30_000,
	/** In each such time, a file must come with at least … */
	graceMs: 120_000,
	/** … so many bytes per second on average. */
	bytesPerSecond: 10_000,
	/** The time for all files of a task. */
	taskMs: 3_600_000,
	/** No other try begins after the tries of a file have taken this long. */
	triesMs: 120_000,
	/** A delivery that takes longer gives its turn to others. */
	turnMs: 60_000,
};

/** The largest file in memory: n8n keeps it as base64 in one string, which has at most 2^29 - 24 characters. */
const MOST_IN_MEMORY_BYTES = ((2 ** 29 - 24) / 4) * 3;

/** Of the files of all executions of this process, while n8n collects them. */
const MOST_COLLECTED_BYTES = 512 * MIB;
/** A file of this size is held without a look at the others. */
const SMALL_BYTES = 8 * MIB;

/** The place where n8n stores files. For the database, S3 and Azure, it first collects a file in memory. */
type Store = 'memory' | 'collected' | 'disk';

/** A limit that was exceeded: n8n's, for one file, or ours, for all files of a task. */
export interface Excess {
	bytes: number;
	isOurs: boolean;
}

/** Watches the size of the files of one task. */
export class StorageLimit {
	private stored?: Promise<Store>;

	constructor(private readonly context: IExecuteFunctions) {}

	/**
	 * The limit that a file exceeds.
	 *
	 * @param taskBytes of all files of the task, this one included
	 */
	async exceededBy(fileBytes: number, taskBytes: number): Promise<Excess | undefined> {
		const { bytes: learnedBytes } = learnedStorageLimit;
		if (fileBytes > learnedBytes) return { bytes: learnedBytes, isOurs: false };
		if (!(taskBytes > Math.min(MOST_IN_MEMORY_BYTES, FILE_LIMITS.bytesInMemory))) return undefined;
		const stored = await this.store();
		if (stored === 'memory' && fileBytes > MOST_IN_MEMORY_BYTES) return { bytes: MOST_IN_MEMORY_BYTES, isOurs: false };
		const ours = stored === 'disk' ? FILE_LIMITS.bytes : FILE_LIMITS.bytesInMemory;
		return taskBytes > ours ? { bytes: ours, isOurs: true } : undefined;
	}

	/** A file that begins to come. */
	beginFile(): Holding {
		return (filesInMemory.budget ??= new ByteBudget(MOST_COLLECTED_BYTES)).begin();
	}

	/** Resolves when so many bytes of a file may be in memory, beside the files of all other executions. */
	async makeRoom(holding: Holding, fileBytes: number, signal: AbortSignal): Promise<void> {
		if (fileBytes > SMALL_BYTES && (await this.store()) !== 'disk') await holding.grow(fileBytes - SMALL_BYTES, signal);
	}

	/** An empty file shows it. One is stored only where a file is large. */
	private async store(): Promise<Store> {
		return await (this.stored ??= this.storeEmptyFile());
	}

	private async storeEmptyFile(): Promise<Store> {
		const { id } = await this.context.helpers.prepareBinaryData(Buffer.alloc(0), 'empty.txt', 'text/plain');
		return id === undefined ? 'memory' : id.startsWith('filesystem') ? 'disk' : 'collected';
	}
}

/**
 * Remembers the limit from n8n's own words: "… exceeds the max size limit of 512 MB set for `database` mode". They begin with the
 * name of the file, which the host may have chosen: the last ones count.
 */
export function learnLimit(words: string): void {
	const [, megabytes] = /.*exceeds the max size limit of ([\d.]+) MB set for/is.exec(words) ?? [];
	if (megabytes !== undefined) learnedStorageLimit.bytes = Number(megabytes) * MIB;
}

/** "512 MiB". */
export function formatSize(bytes: number): string {
	return `${Math.round((bytes / MIB) * 10) / 10} MiB`;
}
