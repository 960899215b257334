import { createHash } from 'crypto';
import type { IDataObject, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { parseCallback, readingsOf, type Callback } from '../../core/avatars/callback';
import type { VerificationKeys } from '../../core/avatars/client';
import { recallVerification, rememberVerification } from '../../core/avatars/memory';
import { verificationStatusOf, type RememberedVerification, type VerificationResult } from '../../core/avatars/records';
import { asGatewayError, GatewayError } from '../../core/errors';
import { linesOfIgnored, lookups, repeatedLookups, toldCallbacks, unknownTokens } from '../../core/processMemory';
import { printable } from '../../core/text';
import { createClient } from '../connection/createClient';
import { realClock } from '../connection/transport';
import { unreadable } from '../errors/toNodeError';
import { toValue, withoutEmpty } from '../run/toItem';
import { memoryOf } from '../Avatar/verification';
import { PAGES, renderPage, type Page } from './page';

/** Pauses before the result is fetched again: it may come a moment after the browser, and the person waits. */
const FETCH_AGAIN_AFTER_MS = [1000, 2000];

/** Until then the person looks at an empty page, whatever the service or n8n waits for. */
const LONGEST_LOOKUP_MS = 10_000;

const NOT_REMEMBERED =
	'This workflow did not create the verification in a production execution within the last hour, so its task ID is not known here.';

interface Outcome {
	result?: VerificationResult;
	/** The reason why there is no result. */
	reason?: string;
}

/** Answers the browser with the page for the person, and starts the workflow if it is to start. */
export async function answerCallback(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const { page, item } = await handleCallback(context);
	context
		.getResponseObject()
		.status(page.httpStatus)
		.set({
			'content-type': 'text/html; charset=utf-8',
			'cache-control': 'no-store',
			// The address of this page holds the vendor token.
			'referrer-policy': 'no-referrer',
		})
		.send(renderPage(page));
	return { noWebhookResponse: true, workflowData: item && [[{ json: item }]] };
}

/** The page for the person, and the item that starts the workflow, if it is to start. */
async function handleCallback(context: IWebhookFunctions): Promise<{ page: Page; item?: IDataObject }> {
	const callback = parseCallback(context.getRequestObject().originalUrl);
	const [vendorTokens, resultCodes] = [readingsOf(callback, 'vendorToken'), readingsOf(callback, 'resultCode')];
	const { vendorToken = vendorTokens[0], known } = recall(context, vendorTokens);
	if (vendorToken === undefined) return { page: PAGES.incomplete };

	const node = `${context.getWorkflow().id} ${context.getNode().id}`;
	// A token can be long, and many are kept.
	const key = createHash('sha256').update(`${node} ${vendorToken}`).digest('base64');
	// A person who builds the workflow opens the same address again, and n8n waits for it each time.
	const isTest = context.getMode() === 'manual';
	// Another lookup would bring nothing new.
	const isSettled = known?.told === true || !toldCallbacks.isNew(key, { verified: true, atMs: Date.now() });
	if (!isTest && isSettled) return { page: PAGES.verified };
	// Many callbacks at once are one lookup.
	const shared = lookups.get(key) as Promise<Outcome> | undefined;
	// A person who is not verified could ask the service through this account without end.
	if (!isTest && !shared && known && !repeatedLookups.allows(key, Date.now())) return { page: PAGES.busy };
	const looking = shared ?? lookUp(context, resultCodes, vendorToken, known);
	lookups.set(key, looking);
	const outcome = await looking.finally(() => lookups.delete(key));

	const page = pageFor(outcome);
	const item = () => toItem(callback, { vendorToken, resultCode: resultCodes[0] }, outcome, known);
	if (isTest) return { page, item: item() };
	const told = { verified: outcome.result?.verified === true, atMs: Date.now() };
	// Before a restart, too. One that was not verified then starts the workflow once more when it is.
	const wasTold = known?.toldUnverified === true && !told.verified;
	if (!toldCallbacks.isNew(key, told) || wasTold) return { page };
	if (known === undefined && isOneTooMany(context, node)) return { page: PAGES.busy };
	// Only now: a callback that was ignored counts when it comes again.
	toldCallbacks.tell(key, told);
	const mark = told.verified ? { told: true } : { toldUnverified: true };
	if (known) rememberVerification(memoryOf(context), vendorToken, { ...known, ...mark });
	return { page, item: item() };
}

/** True beyond the limit: anybody who knows the address can make up tokens, and each starts an execution. */
function isOneTooMany(context: IWebhookFunctions, node: string): boolean {
	const nowMs = Date.now();
	if (unknownTokens.allows(node, nowMs)) return false;
	if (linesOfIgnored.allows(node, nowMs))
		context.logger.warn(
			`Generation Gateway: callbacks with unknown vendor tokens were ignored, because there were more than ${unknownTokens.most} within a minute`,
		);
	return true;
}

function pageFor({ result }: Outcome): Page {
	if (result === undefined) return PAGES.received;
	if (result.verified) return PAGES.verified;
	return isOpen(result) ? PAGES.received : PAGES.notVerified;
}

function toItem(
	callback: Callback,
	{ vendorToken, resultCode }: Pick<Callback, 'vendorToken' | 'resultCode'>,
	{ result, reason }: Outcome,
	known?: RememberedVerification,
): IDataObject {
	return withoutEmpty({
		confirmed: result !== undefined,
		verified: result?.verified === true,
		group_id: result?.groupId,
		task_id: known?.taskId,
		vendor_token: vendorToken,
		verify_status: result?.verifyStatus,
		result_code: toValue(result?.resultCode),
		reference: known?.reference,
		// Anybody can write into an address: that is never put out as what the service says, or as the reference that was given.
		result_code_unconfirmed: result === undefined ? resultCode : undefined,
		reference_unconfirmed: known?.reference === undefined ? callback.reference : undefined,
		reason,
	});
}

function isOpen(result: VerificationResult): boolean {
	return verificationStatusOf(result).state === 'pending';
}

/** The vendor token in the reading that this workflow knows, and its verification. */
function recall(
	context: IWebhookFunctions,
	vendorTokens: string[],
): { vendorToken?: string; known?: RememberedVerification } {
	const memory = memoryOf(context);
	for (const vendorToken of vendorTokens) {
		const known = recallVerification(memory, vendorToken, Date.now());
		if (known !== undefined) return { vendorToken, known };
	}
	return {};
}

/** Looks for the result, the only proof: anybody can make up a callback. Never rejects, and ends in time. */
async function lookUp(
	context: IWebhookFunctions,
	resultCodes: string[],
	vendorToken: string,
	known?: RememberedVerification,
): Promise<Outcome> {
	if (known === undefined) return { reason: NOT_REMEMBERED };
	const { taskId } = known;
	const withoutResult = (why: string): Outcome => {
		const words = printable(why).replace(/\.$/, '');
		context.logger.warn(
			`Generation Gateway: the result of verification ${printable(taskId)} could not be fetched: ${words}`,
		);
		return { reason: `The result could not be fetched: ${words}.` };
	};
	const over = new AbortController();
	const seen: Lookup['seen'] = {};
	try {
		const tooLate = realClock.sleep(LONGEST_LOOKUP_MS, over.signal);
		const fetching = fetchResult(context, { taskId, vendorToken }, resultCodes, { seen, signal: over.signal });
		await Promise.race([fetching, tooLate]);
		// A check that fails later takes nothing back.
		if (seen.result) return { result: seen.result };
		return withoutResult(seen.error?.message ?? `no answer within ${LONGEST_LOOKUP_MS / 1000} seconds`);
	} catch (thrown) {
		return withoutResult(asGatewayError(thrown).message);
	} finally {
		over.abort();
	}
}

interface Lookup {
	/** The latest of each. */
	seen: { result?: VerificationResult; error?: GatewayError };
	signal: AbortSignal;
}

/** Fetches the result, and again while there is none yet. */
async function fetchResult(
	context: IWebhookFunctions,
	keys: Omit<VerificationKeys, 'resultCode'>,
	resultCodes: string[],
	{ seen, signal }: Lookup,
): Promise<void> {
	// What n8n says of a credential that it cannot read is no bug of this package.
	const { avatars } = await createClient(context, { signal, readTries: 2, readTimeoutMs: LONGEST_LOOKUP_MS }).catch(
		(thrown: unknown) => Promise.reject(unreadable(thrown)),
	);
	/** True where another one may tell more. */
	const fetchOnce = async (): Promise<boolean> => {
		const answer = await firstTaken(
			resultCodes,
			async (resultCode) => await avatars.getVerificationResult({ ...keys, resultCode }),
		);
		if (answer instanceof GatewayError) seen.error = answer;
		else seen.result = answer;
		return answer instanceof GatewayError ? hasNoResultYet(answer) : isOpen(answer);
	};
	let mayTellMore = await fetchOnce();
	for (const delayMs of FETCH_AGAIN_AFTER_MS) {
		if (!mayTellMore) return;
		await realClock.sleep(delayMs, signal);
		mayTellMore = await fetchOnce();
	}
}

/** The answer for the reading of the result code that the service accepts, if there are two. */
async function firstTaken(
	resultCodes: string[],
	get: (resultCode?: string) => Promise<VerificationResult>,
): Promise<VerificationResult | GatewayError> {
	const [first, second] = resultCodes;
	const answer = await get(first).catch(asGatewayError);
	return second !== undefined && answer instanceof GatewayError && hasNoResultYet(answer)
		? await get(second).catch(asGatewayError)
		: answer;
}

/** True for the answer of services that have no result yet. */
function hasNoResultYet({ details }: GatewayError): boolean {
	return details.reason?.name === 'verificationResultNotGiven';
}
