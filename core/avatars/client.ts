import { unknownOutcome, type CreatedThing } from '../http/connectionErrors';
import { GatewayError } from '../errors';
import { explained } from '../http/explained';
import { exactId, salvageId } from '../records/taskRecord';
import { encodeId, readBody, type GatewayRequests } from '../http/requests';
import { parseJson } from '../http/retry';
import { explainRefusal } from '../http/serviceErrors';
import {
	readAsset,
	readText,
	readVerificationResult,
	readVerificationSession,
	type AvatarAsset,
	type AvatarKind,
	type VerificationResult,
	type VerificationSession,
} from './records';

const PREFIX = '/v1/videos/alpha-video-2-0';
const REAL = `${PREFIX}/real-avatar`;

type Body = Record<string, unknown>;

/** The endpoints of avatars, one method each (contract 4.6, 4.7). */
export class AvatarClient {
	constructor(private readonly requests: GatewayRequests) {}

	/** Opens a verification session (4.6, step 1) and returns its task id. Nobody has passed by then. */
	async createVerification(body: Body, signal?: AbortSignal): Promise<string> {
		return await this.createThing(`${REAL}/verify-tasks`, body, 'verification', ['task_id', 'id'], signal);
	}

	/** Reads link and vendor token (4.6, step 2). `isNew`: right after creation the id may not be known yet. */
	async getVerification(taskId: string, isNew = false): Promise<VerificationSession> {
		const path = `${REAL}/verify-tasks/${encodeId(taskId)}`;
		const read = async () => readVerificationSession(readBody(await this.requests.get(path)));
		const session = await explained(
			this.requests.withRetries(read, ({ kind }) => isNew && kind === 'notFound'),
			{ notFound: `The service does not know the verification ${taskId}` },
		);
		return { taskId, ...session };
	}

	/** How the verification stands (4.6, step 3), looked at once. */
	async readVerificationResult(query: { taskId: string; vendorToken: string; resultCode?: string }): Promise<VerificationResult> {
		const { taskId, vendorToken, resultCode } = query;
		const reading = this.requests.get(`${REAL}/verify-results`, {
			task_id: taskId,
			vendor_token: vendorToken,
			...(resultCode === undefined ? {} : { result_code: resultCode }),
		});
		const response = await explained(reading, {
			notFound: `The service does not know the verification ${taskId}`,
			permission: `The vendor token does not belong to the verification ${taskId}`,
			rejected: `The service does not accept this vendor token for the verification ${taskId}`,
			advice: 'Use task ID and vendor token of the same verification, as Verification → Create or Get returned them.',
		});
		const result = readVerificationResult(readBody(response));
		if (!result) throw noRecord('a verification result');
		return result;
	}

	/** The same, riding out short trouble. */
	async getVerificationResult(query: { taskId: string; vendorToken: string; resultCode?: string }): Promise<VerificationResult> {
		return await this.requests.withRetries(async () => await this.readVerificationResult(query));
	}

	/** Creates a private group (4.7, step 1) and returns its id. */
	async createGroup(body: Body, signal?: AbortSignal): Promise<string> {
		return await this.createThing(`${PREFIX}/private-avatar/groups`, body, 'group', ['group_id', 'id'], signal);
	}

	/** Uploads an asset into a group (4.6 step 4, 4.7 step 2) and returns its id. It is processed afterwards. */
	async uploadAsset(kind: AvatarKind, body: Body, signal?: AbortSignal): Promise<string> {
		const notFound = `The service does not know this group as a ${kind} avatar group of the account`;
		return await explained(
			this.createThing(`${PREFIX}/${kind}-avatar/assets`, body, 'asset', ['asset_id', 'id'], signal),
			{ notFound, permission: notFound, advice: GROUP_ADVICE[kind] },
		);
	}

	/** Reads an asset once (4.6 step 5, 4.7 step 3). */
	async readAsset(kind: AvatarKind, assetId: string): Promise<AvatarAsset> {
		const path = `${PREFIX}/${kind}-avatar/assets/${encodeId(assetId)}`;
		const response = await explained(this.requests.get(path), {
			notFound: `The service does not know ${assetId} as a ${kind} avatar asset of the account`,
			advice: 'Check the asset ID, the avatar kind, and that the credential is the one of the account that uploaded it.',
		});
		const answered = readAsset(parseJson(response.text));
		// As for tasks: `success: false` next to the asset's own ID and a final status is the asset's, not the reading's.
		const hasFailed = answered?.state === 'failed' && answered.assetId === assetId;
		const asset = hasFailed ? answered : readAsset(readBody(response));
		if (!asset) throw noRecord('the state of the asset', 'unavailable');
		return asset;
	}

	/** The same, riding out short trouble. */
	async getAsset(kind: AvatarKind, assetId: string): Promise<AvatarAsset> {
		return await this.requests.withRetries(async () => await this.readAsset(kind, assetId));
	}

	private async createThing(path: string, body: Body, thing: CreatedThing, names: string[], signal?: AbortSignal): Promise<string> {
		const response = await this.requests.create({ path, body, thing, signal });
		const { text } = response;
		const id = exactId(readText(parseJson(text), ...names), text) ?? salvageId(text, names.join('|'));
		if (id === undefined) throw unknownOutcome(thing, `it answered without the ID of the ${thing}`, explainRefusal(response));
		return id;
	}
}

const GROUP_ADVICE: Record<AvatarKind, string> = {
	real: 'For real avatars, use the group_id of a verification that a person of this account has passed. Groups of private avatars have their own kind.',
	private: 'For private avatars, use the group_id that Group → Create returned. Groups of verified persons are of the kind Real.',
};

function noRecord(what: string, kind: 'unexpectedAnswer' | 'unavailable' = 'unexpectedAnswer'): GatewayError {
	return new GatewayError(kind, `The service answered without ${what}`, { description: 'Check the Base URL in the credential.' });
}
