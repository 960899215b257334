import { z } from 'zod';
import { flatten, looseNumber, looseText, textIn } from '../records/loose';
import { parseRefusal, type ServiceRefusal } from '../records/refusals';
import type { Watched } from '../tasks/waitForTask';

/** The two flows of the contract: real persons (4.6) and private avatars (4.7). */
export type AvatarKind = 'real' | 'private';

/** What the person needs to verify themselves (contract 4.6, step 2). */
export interface VerificationSession {
	taskId: string;
	h5Link?: string;
	vendorToken?: string;
	/** Unix seconds. The link lives for 120 s. */
	expiresAt?: number;
	raw: Record<string, unknown>;
}

/** How a verification stands (contract 4.6, step 3). */
export interface VerificationResult {
	/** True only with `verify_status` = `verified` and a group id: nothing else proves anything. */
	verified: boolean;
	verifyStatus?: string;
	groupId?: string;
	resultCode?: string;
	refusal: ServiceRefusal;
	raw: Record<string, unknown>;
}

/** An asset of a group (contract 2.4). */
export interface AvatarAsset {
	assetId?: string;
	/** The status word as it came. */
	status: string;
	state: Watched['state'];
	progress?: number;
	groupId?: string;
	assetType?: string;
	sourceUrl?: string;
	refusal: ServiceRefusal;
	raw: Record<string, unknown>;
}

/** Unix seconds from seconds, milliseconds or a date as text: how the service writes it is not shown. */
function parseTime(value: unknown): number | undefined {
	const number = looseNumber.parse(value);
	if (number !== undefined) return number > 1e11 ? Math.floor(number / 1000) : number;
	const parsed = typeof value === 'string' ? Date.parse(value) : NaN;
	return Number.isNaN(parsed) ? undefined : Math.floor(parsed / 1000);
}

export function parseVerificationSession(answer: unknown): Omit<VerificationSession, 'taskId'> {
	const raw = flatten(answer) ?? {};
	return {
		h5Link: textIn(answer, 'h5_link'),
		vendorToken: textIn(answer, 'vendor_token'),
		expiresAt: parseTime(raw.expires_at),
		raw,
	};
}

export function parseVerificationResult(answer: unknown): VerificationResult | undefined {
	const raw = flatten(answer);
	if (!raw) return undefined;
	const verifyStatus = textIn(answer, 'verify_status');
	const groupId = textIn(answer, 'group_id');
	return {
		verified: verifyStatus?.toLowerCase() === 'verified' && groupId !== undefined,
		verifyStatus,
		groupId,
		resultCode: textIn(answer, 'result_code'),
		refusal: parseRefusal(raw),
		raw,
	};
}

/** Words that end a wait without success; any other word but the good one is still on its way. */
const ENDED = /^(failed|rejected|error|expired|cancell?ed)$/i;

export function watchVerification({ verified, verifyStatus = 'pending' }: VerificationResult): Watched {
	return { state: verified ? 'done' : ENDED.test(verifyStatus) ? 'failed' : 'pending', status: verifyStatus };
}

/** Undefined when the answer has no status. Only `active` is shown in the contract (3.2). */
export function parseAsset(answer: unknown): AvatarAsset | undefined {
	const raw = flatten(answer);
	const status = textIn(answer, 'status');
	if (!raw || status === undefined) return undefined;
	const fields = z.object({ asset_type: looseText, source_url: looseText, progress: looseNumber }).parse(raw);
	return {
		assetId: textIn(answer, 'asset_id', 'id'),
		status,
		state: /^active$/i.test(status) ? 'done' : ENDED.test(status) ? 'failed' : 'pending',
		progress: fields.progress,
		groupId: textIn(answer, 'group_id'),
		assetType: fields.asset_type,
		sourceUrl: fields.source_url,
		refusal: parseRefusal(raw),
		raw,
	};
}
