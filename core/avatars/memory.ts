import { isPlainObject, type JsonObject } from '../json';
import { verifications } from '../processMemory';
import { LONGEST_URL } from '../urls';
import { rememberedVerification, type RememberedVerification } from './records';

/**
 * The verifications of a workflow by vendor token, for an hour: the browser callback brings the vendor token and no
 * task ID, and the result is looked up by both (contract 4.6, step 3). The reference is remembered with it, because
 * the person whose browser calls back can change the one in the address. n8n keeps it in the static data of the
 * workflow, which it saves as a whole when an execution ends, so of executions that overlap the last one wins. So
 * the memory of this process has them, too, and each write adds those that others have lost.
 */
export interface VerificationMemory {
	workflowId: string;
	/** n8n's static data as this execution sees it. */
	store: JsonObject;
}

type Verifications = Map<string, RememberedVerification>;

const KEY = 'generationGatewayVerifications';
const REMEMBER_FOR_MS = 3_600_000;
/** A bound for the database row, far above what an hour brings. */
const MOST = 1000;

export function rememberVerification(
	memory: VerificationMemory,
	vendorToken: string,
	verification: RememberedVerification,
): void {
	// The address of a callback has no room for a longer one.
	if (vendorToken.length > LONGEST_URL) return;
	const all = recallAll(memory, verification.atMs);
	all.set(vendorToken, withMarksOf(all.get(vendorToken), verification));
	const newest = [...all].sort(([, one], [, other]) => one.atMs - other.atMs).slice(-MOST);
	memory.store[KEY] = Object.fromEntries(newest);
	for (const [workflowId, others] of verifications) {
		if ([...others.values()].every(({ atMs }) => isOver(atMs, verification.atMs))) verifications.delete(workflowId);
	}
	verifications.set(memory.workflowId, new Map(newest));
}

export function recallVerification(
	memory: VerificationMemory,
	vendorToken: string,
	nowMs: number,
): RememberedVerification | undefined {
	return recallAll(memory, nowMs).get(vendorToken);
}

/** Those of the last hour; older ones are removed from the static data. Where both know a token, that counts, but for the marks. */
function recallAll({ workflowId, store }: VerificationMemory, nowMs: number): Verifications {
	const known: Verifications = new Map(verifications.get(workflowId));
	const stored = isPlainObject(store[KEY]) ? store[KEY] : {};
	for (const [token, entry] of Object.entries(stored)) {
		const { data } = rememberedVerification.safeParse(entry);
		if (data === undefined) continue;
		known.set(token, withMarksOf(known.get(token), data));
		if (isOver(data.atMs, nowMs)) delete stored[token];
	}
	return new Map([...known].filter(([, { atMs }]) => !isOver(atMs, nowMs)));
}

/** A mark stays: an execution that began before it was made does not know it, and writes later. */
function withMarksOf(
	other: RememberedVerification | undefined,
	verification: RememberedVerification,
): RememberedVerification {
	if (other?.taskId !== verification.taskId) return verification;
	const { told, toldUnverified } = other;
	return { ...verification, ...(told && { told }), ...(toldUnverified && { toldUnverified }) };
}

function isOver(atMs: number, nowMs: number): boolean {
	return nowMs - atMs >= REMEMBER_FOR_MS;
}
