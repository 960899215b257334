import type { IExecuteFunctions } from 'n8n-workflow';
import { learnedStorageLimit } from '../../core/processMemory';
import { FILE_LIMITS } from '../connection/fileLimits';

const MIB = 1024 ** 2;
/**
 * The largest file in memory: n8n keeps it as base64 in one string, and the longest string has 2^29 - 24 characters.
 */
const MOST_IN_MEMORY_BYTES = ((2 ** 29 - 24) / 4) * 3;

/** A limit that was exceeded: n8n's, for one file, or ours, for all files of a task. */
export interface Excess {
	bytes: number;
	isOurs: boolean;
}

/** Watches the size of the files of one task. */
export class StorageLimit {
	private stored?: Promise<'memory' | 'database' | 'elsewhere'>;

	constructor(private readonly context: IExecuteFunctions) {}

	/**
	 * The limit that a file exceeds.
	 *
	 * @param taskBytes of all files of the task, this one included
	 */
	async exceededBy(fileBytes: number, taskBytes: number): Promise<Excess | undefined> {
		const { bytes: learnedBytes } = learnedStorageLimit;
		if (fileBytes > learnedBytes) return { bytes: learnedBytes, isOurs: false };
		// An empty file shows where n8n stores files. This is only done for large ones.
		if (!(taskBytes > Math.min(MOST_IN_MEMORY_BYTES, FILE_LIMITS.bytesInMemory))) return undefined;
		const stored = await (this.stored ??= this.whereFilesGo());
		if (stored === 'memory' && fileBytes > MOST_IN_MEMORY_BYTES) return { bytes: MOST_IN_MEMORY_BYTES, isOurs: false };
		const ours = stored === 'elsewhere' ? FILE_LIMITS.bytes : FILE_LIMITS.bytesInMemory;
		return taskBytes > ours ? { bytes: ours, isOurs: true } : undefined;
	}

	private async whereFilesGo(): Promise<'memory' | 'database' | 'elsewhere'> {
		const { id } = await this.context.helpers.prepareBinaryData(Buffer.alloc(0), 'empty.txt', 'text/plain');
		return id === undefined ? 'memory' : id.startsWith('database') ? 'database' : 'elsewhere';
	}
}

/** Remembers the limit from n8n's own words: "… exceeds the max size limit of 512 MB set for `database` mode". */
export function learnLimit(words: string): void {
	const [, megabytes] = /max size limit of ([\d.]+) MB/i.exec(words) ?? [];
	if (megabytes !== undefined) learnedStorageLimit.bytes = Number(megabytes) * MIB;
}

/** "512 MiB". */
export function formatSize(bytes: number): string {
	return `${Math.round((bytes / MIB) * 10) / 10} MiB`;
}
