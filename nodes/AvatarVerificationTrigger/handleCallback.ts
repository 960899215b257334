import type { IDataObject, IWebhookFunctions } from 'n8n-workflow';
import { readCallback } from '../../core/avatars/callback';
import { CallbackLog, PerMinute } from '../../core/avatars/callbackLog';
import { recallVerification, rememberVerification, type RememberedVerification, type VerificationMemory } from '../../core/avatars/memory';
import { watchVerification, type VerificationResult } from '../../core/avatars/records';
import { asGatewayError } from '../../core/errors';
import { createClient } from '../connection/createClient';
import { realClock } from '../connection/transport';
import { withoutEmpty } from '../run/output';
import { PAGES, type Page } from './page';

/** The result may come a moment after the browser: so long the person waits for the page. */
const LOOK_AGAIN_AFTER_MS = [1000, 2000];
/** Longer values are nobody's token, and are not passed on. */
const LONGEST_VALUE = 1000;

const NOT_REMEMBERED =
	'This workflow has not created the verification within the last hour, or not in a production run, so its task ID is not known here.';

/** In memory: also callbacks that arrive at the same moment are told of once. */
const callbackLog = new CallbackLog();
const lookups = new Map<string, Promise<Outcome>>();
/** Anybody who knows the address can make up tokens: each is an execution, so there is a limit. */
const MOST_UNKNOWN_PER_MINUTE = 100;
const unknownTokens = new PerMinute(MOST_UNKNOWN_PER_MINUTE);

interface Outcome {
	known?: RememberedVerification;
	result?: VerificationResult;
	/** Why there is no result. */
	reason?: string;
}

/** What to show to the person, and what to start the workflow with, if anything. */
export async function handleCallback(context: IWebhookFunctions): Promise<{ page: Page; item?: IDataObject }> {
	const callback = readCallback(context.getRequestObject().originalUrl);
	const { vendorToken, resultCode, reference } = callback;
	const tooLong = [vendorToken, resultCode, reference].some((value) => (value?.length ?? 0) > LONGEST_VALUE);
	if (vendorToken === undefined || tooLong) return { page: PAGES.incomplete };

	const node = `${context.getWorkflow().id} ${context.getNode().id}`;
	const key = `${node} ${vendorToken}`;
	if (callbackLog.isSettled(key, Date.now())) return { page: PAGES.verified };
	// Many callbacks at once are one lookup.
	const looking = lookups.get(key) ?? lookUp(context, vendorToken, resultCode);
	lookups.set(key, looking);
	const { known, result, reason } = await looking.finally(() => lookups.delete(key));

	const verified = result?.verified === true;
	const page = result === undefined ? PAGES.received : verified ? PAGES.verified : isOpen(result) ? PAGES.received : PAGES.notVerified;
	const isNew = callbackLog.isNew(key, verified, Date.now());
	if (!isNew || known?.told) return { page };
	if (known === undefined && !unknownTokens.allows(node, Date.now())) {
		context.logger.warn(`Generation Gateway: a callback with an unknown vendor token was left out, there were more than ${MOST_UNKNOWN_PER_MINUTE} within a minute`);
		return { page };
	}
	if (verified && known) {
		rememberVerification(memoryOf(context), vendorToken, { ...known, told: true });
	}
	const item: IDataObject = {
		proved: result !== undefined,
		verified,
		group_id: result?.groupId,
		task_id: known?.taskId,
		vendor_token: vendorToken,
		verify_status: result?.verifyStatus,
		result_code: result?.resultCode ?? resultCode,
		reference,
		reason,
		next_step: result === undefined ? 'Nothing is proved: look it up with Gateway Avatar → Verification → Get Result, task ID and vendor token.' : undefined,
	};
	return { page, item: withoutEmpty(item) };
}

function isOpen(result: VerificationResult): boolean {
	return watchVerification(result).state === 'pending';
}

function memoryOf(context: IWebhookFunctions): VerificationMemory {
	return { workflowId: String(context.getWorkflow().id), store: context.getWorkflowStaticData('global') };
}

/** The lookup is the only proof: what the callback carries can be made up by anybody. Never rejects. */
async function lookUp(context: IWebhookFunctions, vendorToken: string, resultCode: string | undefined): Promise<Outcome> {
	const known = recallVerification(memoryOf(context), vendorToken, Date.now());
	if (known === undefined) return { reason: NOT_REMEMBERED };
	try {
		const { avatars } = await createClient(context);
		const keys = { taskId: known.taskId, vendorToken, resultCode };
		let result = await avatars.getVerificationResult(keys);
		for (const delayMs of LOOK_AGAIN_AFTER_MS) {
			if (!isOpen(result)) break;
			await realClock.sleep(delayMs);
			result = await avatars.getVerificationResult(keys);
		}
		return { known, result };
	} catch (thrown) {
		const error = asGatewayError(thrown);
		context.logger.warn(`Generation Gateway: the result of verification ${known.taskId} could not be looked up: ${error.message}`);
		return { known, reason: `The result could not be looked up: ${error.message}.` };
	}
}
