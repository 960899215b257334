import { z } from 'zod';
import { isPlainObject, type JsonObject } from '../json';
import { bothLevels, looseProgress, looseText, looseExpiry, idIn, idsUnder, textIn } from '../records/loose';
import { parseRefusal, refusalAround, type ServiceRefusal } from '../records/refusals';
import { knownState, LONGEST_WORD } from '../records/taskRecord';
import { beginningOf, shorten } from '../text';
import { LONGEST_URL } from '../urls';
import type { PollStatus } from '../polling/waitForTask';

/** The two flows of the contract: real persons (4.6) and private avatars (4.7). */
export type AvatarKind = 'real' | 'private';

/** The link and the token with which a person verifies themselves (contract 4.6, step 2). */
export interface VerificationSession {
	taskId: string;
	h5Link?: string;
	vendorToken?: string;
	/** Unix seconds. The link lives for 120 s. */
	expiresAt?: number;
	/** The status word of the session: it says nothing about the person (contract 3.3). */
	status?: string;
	raw: JsonObject;
}

/** The status of a verification (contract 4.6, step 3). */
export interface VerificationResult {
	/** True only with `verify_status` = `verified` and a group id: nothing else proves anything. */
	verified: boolean;
	verifyStatus?: string;
	groupId?: string | number;
	/** As it came: its shape is not shown. */
	resultCode?: unknown;
	refusal: ServiceRefusal;
	raw: JsonObject;
}

/** An asset of a group (contract 2.4). */
export interface AvatarAsset {
	assetId?: string;
	/** The status word as it came. */
	status: string;
	state: PollStatus['state'];
	progress?: number;
	groupId?: string | number;
	assetType?: string;
	sourceUrl?: string;
	refusal: ServiceRefusal;
	raw: JsonObject;
}

/** The answer to a creating request. The contract does not show its fields beside the ID (2.4). */
export interface CreatedAnswer {
	id: string;
	/** The status word as it came. */
	status?: string;
	raw: JsonObject;
}

/** `raw` is the answer as it came; what cannot be read was cut off. */
export function parseCreatedAnswer(id: string, answer: unknown): CreatedAnswer {
	return { id, status: wordIn(answer, 'status'), raw: asRaw(answer) };
}

/** The answers about one thing as one: what the later one says counts, and nothing of the earlier one is lost. */
export function joinAnswers(earlier: JsonObject = {}, later: JsonObject = {}): JsonObject {
	const inner =
		isPlainObject(earlier.data) && isPlainObject(later.data) ? { data: { ...earlier.data, ...later.data } } : {};
	return { ...earlier, ...later, ...inner };
}

/** A status word: errors and waits keep it. */
function wordIn(answer: unknown, name: string): string | undefined {
	const word = textIn(answer, name);
	return word && beginningOf(word, LONGEST_WORD);
}

/** Undefined for one that is longer than any that has a meaning. */
function shortText(value: unknown, longest: number): string | undefined {
	const text = looseText(value);
	return text !== undefined && text.length <= longest ? text : undefined;
}

/**
 * The verification that a result is about, where it is another one than was asked for: a cache may mix up requests that differ in their
 * query only, and the proof would be that of another person.
 */
export function otherVerification(answer: unknown, asked: { taskId: string; vendorToken: string }): string | undefined {
	const levels = isPlainObject(answer) ? [answer, answer.data].filter(isPlainObject) : [];
	const named = (name: string) => levels.flatMap((level) => idsUnder(level, name));
	const [ids, tokens] = [named('task_id'), named('vendor_token')];
	const isAsked = ids.includes(asked.taskId) || tokens.includes(asked.vendorToken);
	if (isAsked || ids.length + tokens.length === 0) return undefined;
	// Never its vendor token: a reader of the message could ask for the result of the other person with it.
	return ids[0] === undefined ? 'another verification' : `another verification (${shorten(ids[0], 100)})`;
}

function asRaw(answer: unknown): JsonObject {
	return isPlainObject(answer) ? answer : {};
}

export function parseVerificationSession(answer: unknown): Omit<VerificationSession, 'taskId'> {
	const fields = bothLevels(answer) ?? {};
	return {
		h5Link: textIn(answer, 'h5_link'),
		vendorToken: textIn(answer, 'vendor_token'),
		expiresAt: looseExpiry(fields.expires_at),
		status: wordIn(answer, 'status'),
		raw: asRaw(answer),
	};
}

/** The service's words about a thing: its own, or else those of the answer around it. */
function refusalOf(answer: JsonObject): ServiceRefusal {
	if (!isPlainObject(answer.data)) return parseRefusal(answer);
	const own = parseRefusal(answer.data);
	return own.message === undefined && own.code === undefined ? refusalAround([answer]) : own;
}

export function parseVerificationResult(answer: unknown): VerificationResult | undefined {
	const fields = bothLevels(answer);
	if (!fields) return undefined;
	const verifyStatus = wordIn(answer, 'verify_status');
	const groupId = idIn(answer, 'group_id');
	return {
		verified: verifyStatus?.toLowerCase() === 'verified' && groupId !== undefined,
		verifyStatus,
		groupId,
		resultCode: fields.result_code ?? undefined,
		refusal: refusalOf(asRaw(answer)),
		raw: asRaw(answer),
	};
}

/** The contract shows no words for an end without success (3.2, 3.3): those of tasks are assumed. Any other word is on its way. */
const hasFailed = (status: string) => knownState(status) === 'failed';

/** Only `active` is shown in the contract (3.2). */
export function assetStateOf(status: string): PollStatus['state'] {
	return /^active$/i.test(status) ? 'done' : hasFailed(status) ? 'failed' : 'pending';
}

export function verificationStatusOf({ verified, verifyStatus = 'pending' }: VerificationResult): PollStatus {
	return { state: verified ? 'done' : hasFailed(verifyStatus) ? 'failed' : 'pending', status: verifyStatus };
}

/**
 * True where the answer counts for the asset: an end that is another one's does not, and a failure without an ID only where it
 * is inside of `data`, as otherwise it may be that of the request.
 */
export function isBelieved({ state, assetId, raw }: AvatarAsset, asked: string): boolean {
	if (state === 'pending' || assetId === asked) return true;
	const inner = isPlainObject(raw.data) && idsUnder(raw.data, 'status').length > 0 ? raw.data : undefined;
	// Beside the status, an `id` is the asset's, too. Around it, it may be that of the request.
	const hasOtherId = idsUnder(inner ?? raw, 'id').length > 0 && !idsUnder(raw, 'id').includes(asked);
	const isOther = textIn(raw, 'asset_id') !== undefined || hasOtherId;
	return !isOther && (state === 'done' || inner !== undefined);
}

/** Undefined when the answer has no status. */
export function parseAsset(answer: unknown): AvatarAsset | undefined {
	const all = bothLevels(answer);
	const status = wordIn(answer, 'status');
	if (!all || status === undefined) return undefined;
	return {
		assetId: textIn(answer, 'asset_id', 'id'),
		status,
		state: assetStateOf(status),
		progress: looseProgress(all.progress),
		groupId: idIn(answer, 'group_id'),
		assetType: shortText(all.asset_type, LONGEST_WORD),
		sourceUrl: shortText(all.source_url, LONGEST_URL),
		refusal: refusalOf(asRaw(answer)),
		raw: asRaw(answer),
	};
}

/** A verification that a workflow has created, as it is remembered until the person comes back. */
export type RememberedVerification = z.infer<typeof rememberedVerification>;

export const rememberedVerification = z.object({
	taskId: z.string(),
	/** The user's own name for the person, as it was given when the verification was created. */
	reference: z.string().optional(),
	/** Unix milliseconds. */
	atMs: z.number(),
	/** The trigger has started the workflow for it: it does not do so again after a restart. */
	told: z.boolean().optional(),
	/** It has done so without a proof. Afterwards only a verified result starts the workflow. */
	toldUnverified: z.boolean().optional(),
});
