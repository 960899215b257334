import { isPlainObject } from '../json';
import type { Memory } from './memory';
import { GAP_CODE } from './replay';
import { isWitness, LEASE, parseRow, type StoredRow } from './row';

/**
 * The lease of another execution that goes on with the run, and whether the own one is there; undefined where a row cannot be read.
 *
 * @param found the rows of a look
 * @param own.takesOver false: a first try, which any other lease stops
 */
export function leasesIn(
	found: readonly unknown[],
	{ run, memory, takesOver }: { run: string; memory: Memory; takesOver: boolean },
): { other?: StoredRow; hasOwn: boolean } | undefined {
	const { leases: names, lease: own, first } = memory;
	// A row of a Purchase Key that cannot be read stops the orders of this key only.
	const isOfKey = (value: unknown) =>
		isPlainObject(value) && typeof value.key_hash === 'string' && value.key_hash !== run;
	const rows = found.filter((value) => !isOfKey(value)).map(parseRow);
	if (!rows.every((row) => row !== undefined)) return undefined;
	const isOfRun = (row: StoredRow) =>
		row.state === LEASE && row.run === run && (row.first === '' || first === '' || row.first === first);
	// One whose insert was given up may come after that of an execution that has taken over.
	const isIgnored = ({ attempt }: StoredRow) => attempt !== own && names.includes(attempt);
	const leases = rows.filter((row) => isOfRun(row) && !isIgnored(row)).sort((one, other) => other.id - one.id);
	const isOwn = ({ attempt }: StoredRow) => attempt === own;
	// One that only tells of a doubt outranks no other, either: rows were not read after it.
	const counting = takesOver ? leases.filter((row) => !isWitness(row) && row.code !== GAP_CODE) : leases;
	const [newest] = takesOver ? counting : counting.filter((row) => !isOwn(row));
	return { ...(newest !== undefined && !isOwn(newest) && { other: newest }), hasOwn: counting.some(isOwn) };
}
