import { z } from 'zod';
import type { JsonObject } from '../json';

/**
 * Which verification a vendor token belongs to, for an hour: the browser callback brings the vendor token and no
 * task id, and the result is looked up by both (contract 4.6, step 3). The reference is remembered with it, because
 * what the callback brings is in the hands of the person whose browser calls it. It is kept in n8n's static data of the
 * workflow. n8n saves that as a whole when an execution ends, so of executions that overlap the last one wins:
 * what this process knows is therefore kept in memory, too, and each write brings along what others lost.
 */
export type RememberedVerification = z.infer<typeof rememberedVerification>;

const rememberedVerification = z.object({
	taskId: z.string(),
	/** The caller's own name for the person, as it was given when the verification was created. */
	reference: z.string().optional(),
	/** Unix milliseconds. */
	atMs: z.number(),
	/** The trigger has told that the person has passed: also after a restart it does not tell it again. */
	told: z.boolean().optional(),
});

/** Where the verifications of a workflow are kept. */
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

/** By workflow id. */
const ofThisProcess = new Map<string, Verifications>();

export function rememberVerification(
	memory: VerificationMemory,
	vendorToken: string,
	verification: RememberedVerification,
): void {
	const all = recallAll(memory, verification.atMs).set(vendorToken, verification);
	const newest = [...all].sort(([, one], [, other]) => one.atMs - other.atMs).slice(-MOST);
	memory.store[KEY] = Object.fromEntries(newest);
	ofThisProcess.set(memory.workflowId, new Map(newest));
}

export function recallVerification(
	memory: VerificationMemory,
	vendorToken: string,
	nowMs: number,
): RememberedVerification | undefined {
	return recallAll(memory, nowMs).get(vendorToken);
}

/** What is not older than an hour. Where both know a token, the static data counts. */
function recallAll({ workflowId, store }: VerificationMemory, nowMs: number): Verifications {
	const saved = Object.entries(z.record(z.unknown()).catch({}).parse(store[KEY])).flatMap(([token, entry]) => {
		const { data } = rememberedVerification.safeParse(entry);
		return data === undefined ? [] : [[token, data] as const];
	});
	const known = new Map([...(ofThisProcess.get(workflowId) ?? []), ...saved]);
	return new Map([...known].filter(([, { atMs }]) => nowMs - atMs < REMEMBER_FOR_MS));
}
