import type { IExecuteFunctions } from 'n8n-workflow';

const MIB = 1024 ** 2;
/** n8n keeps a file as base64 in one string, and the longest string has 2^29 - 24 characters. */
const MOST_IN_MEMORY_BYTES = ((2 ** 29 - 24) / 4) * 3;
/** The most that N8N_BINARY_DATA_DATABASE_MAX_FILE_SIZE can be set to. What it is set to, no node can read. */
const MOST_IN_DATABASE_BYTES = 1024 * MIB;

/** What n8n has said of its limit when it did not take a file. It changes with a restart only. */
let learnedBytes = Infinity;

/** The most bytes that a file can have where n8n keeps binary data, if this one is larger. */
export async function limitExceededBy(bytes: number, { helpers }: IExecuteFunctions): Promise<number | undefined> {
	if (bytes > learnedBytes) return learnedBytes;
	if (!(bytes > MOST_IN_MEMORY_BYTES)) return undefined;
	// Where files go is told by one that is empty. It is asked for large ones only.
	const { id } = await helpers.prepareBinaryData(Buffer.alloc(0), 'empty.txt', 'text/plain');
	const limit = id === undefined ? MOST_IN_MEMORY_BYTES : id.startsWith('database') ? MOST_IN_DATABASE_BYTES : Infinity;
	return bytes > limit ? limit : undefined;
}

/** Takes the limit from n8n's own words: "… exceeds the max size limit of 512 MB set for `database` mode". */
export function learnLimit(words: string): void {
	const [, megabytes] = /max size limit of ([\d.]+) MB/i.exec(words) ?? [];
	if (megabytes !== undefined) learnedBytes = Number(megabytes) * MIB;
}

/** "512 MiB". */
export function formatSize(bytes: number): string {
	return `${Math.round((bytes / MIB) * 10) / 10} MiB`;
}
