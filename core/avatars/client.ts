import { asGatewayError, gatewayError, type CreatedThing, type GatewayError } from '../errors';
import { answerLacks, mapError, parseBody, toKeep } from '../http/answers';
import { encodeId, type GatewayRequests } from '../http/requests';
import type { HttpResponse, CreateAttempt } from '../http/types';
import type { JsonObject } from '../json';
import { createdId } from '../records/ids';
import { mayBeUnfinished } from './pollTargets';
import {
	isBelieved,
	otherVerification,
	parseAsset,
	parseCreatedAnswer,
	parseVerificationResult,
	parseVerificationSession,
	type AvatarAsset,
	type AvatarKind,
	type CreatedAnswer,
	type VerificationResult,
	type VerificationSession,
} from './records';

const PREFIX = '/v1/videos/alpha-video-2-0';
const REAL = `${PREFIX}/real-avatar`;

export interface VerificationKeys {
	taskId: string;
	vendorToken: string;
	/** From the browser callback. */
	resultCode?: string;
}

/** The endpoints of avatars, one method each (contract 4.6, 4.7). */
export class AvatarClient {
	constructor(private readonly requests: GatewayRequests) {}

	/** Opens a verification session (contract 4.6, step 1). The person has not passed by then. */
	async createVerification(body: JsonObject, attempt?: CreateAttempt): Promise<CreatedAnswer> {
		const path = `${REAL}/verify-tasks`;
		return await this.createThing({ path, thing: 'verification', idName: 'task_id' }, body, attempt);
	}

	/**
	 * Link and vendor token (contract 4.6, step 2), as far as the service gives them.
	 *
	 * @param passes names more errors that are worth another try
	 */
	async getVerification(taskId: string, passes?: (error: GatewayError) => boolean): Promise<VerificationSession> {
		const path = `${REAL}/verify-tasks/${encodeId(taskId)}`;
		const read = async () => parseVerificationSession(parseBody(await this.requests.get(path)));
		const session = await mapError(this.requests.withRetries(read, { also: passes }), {
			notFound: (details) => gatewayError('verificationUnknown', { id: taskId }, details),
		});
		return { taskId, ...session };
	}

	/**
	 * Reads the outcome of a verification once (contract 4.6, step 3).
	 *
	 * @param beforeSend called right before it is sent
	 */
	async fetchVerificationResult(
		{ taskId, vendorToken, resultCode }: VerificationKeys,
		beforeSend?: () => void,
	): Promise<VerificationResult> {
		const query = {
			task_id: taskId,
			vendor_token: vendorToken,
			...(resultCode === undefined ? {} : { result_code: resultCode }),
		};
		const response = await this.requests.get(`${REAL}/verify-results`, { query, beforeSend });
		const answer = parseBody(response);
		const other = otherVerification(answer, { taskId, vendorToken });
		const aboutOther = { what: 'a verification result', other };
		if (other !== undefined) throw gatewayError('answerLacks', aboutOther, { httpStatus: response.status });
		const result = parseVerificationResult(answer);
		if (!result) throw answerLacks('a verification result', response);
		return result;
	}

	/** The same, again while the trouble may pass. The meaning of a refusal is not known, so its words are reported. */
	async getVerificationResult(keys: VerificationKeys): Promise<VerificationResult> {
		try {
			return await this.requests.withRetries(async () => await this.fetchVerificationResult(keys));
		} catch (thrown) {
			const error = asGatewayError(thrown);
			const { httpStatus, serviceMessage, serviceCode } = error.details;
			if (httpStatus === undefined || !mayBeUnfinished(error)) throw error;
			const data = { id: keys.taskId, httpStatus };
			throw gatewayError('verificationResultNotGiven', data, { httpStatus, serviceMessage, serviceCode });
		}
	}

	/** Creates a private group (contract 4.7, step 1). */
	async createGroup(body: JsonObject, attempt?: CreateAttempt): Promise<CreatedAnswer> {
		const path = `${PREFIX}/private-avatar/groups`;
		return await this.createThing({ path, thing: 'group', idName: 'group_id' }, body, attempt);
	}

	/** Uploads an asset into a group (contract 4.6 step 4, 4.7 step 2). It is processed afterwards. */
	async uploadAsset(avatarKind: AvatarKind, body: JsonObject, attempt?: CreateAttempt): Promise<CreatedAnswer> {
		const path = `${PREFIX}/${avatarKind}-avatar/assets`;
		const created = this.createThing({ path, thing: 'asset', idName: 'asset_id' }, body, attempt);
		return await mapError(created, {
			notFound: (details) => gatewayError('groupUnknown', { avatarKind }, details),
			permission: (details) => gatewayError('groupNotAllowed', { avatarKind }, details),
		});
	}

	/**
	 * Reads an asset once (contract 4.6 step 5, 4.7 step 3).
	 *
	 * @param beforeSend called right before it is sent
	 */
	async fetchAsset(avatarKind: AvatarKind, assetId: string, beforeSend?: () => void): Promise<AvatarAsset> {
		const path = `${PREFIX}/${avatarKind}-avatar/assets/${encodeId(assetId)}`;
		const response = await mapError(this.requests.get(path, { beforeSend }), {
			notFound: (details) => gatewayError('assetUnknown', { id: assetId, avatarKind }, details),
		});
		const asset = parseAsset(response.body);
		// As for tasks: `success: false` next to the asset's own ID and a final status is the asset's, not the reading's.
		if (asset?.state !== 'failed' || asset.assetId !== assetId) parseBody(response); // throws the error of a refusal
		if (asset === undefined || !isBelieved(asset, assetId)) throw answerLacks('an asset status', response);
		return asset;
	}

	/** The same, tried again while the trouble may pass. */
	async getAsset(avatarKind: AvatarKind, assetId: string): Promise<AvatarAsset> {
		return await this.requests.withRetries(async () => await this.fetchAsset(avatarKind, assetId));
	}

	/** `idName`: the name that the ID has in the answer, where that is not just `id`. */
	private async createThing(
		{ path, thing, idName }: { path: string; thing: CreatedThing; idName: string },
		body: JsonObject,
		attempt?: CreateAttempt,
	): Promise<CreatedAnswer> {
		const parse = (answer: unknown, response: HttpResponse) => {
			const created = createdId(answer, idName);
			if (created === undefined) return undefined;
			const parsed = parseCreatedAnswer(created.id, answer);
			return { ...parsed, raw: toKeep(response, parsed.raw) };
		};
		return await this.requests.create({ path, body, thing, parse, wanted: `the ID of the ${thing}`, attempt });
	}
}
