import type { ExecuteWorkflowData, IExecuteFunctions } from 'n8n-workflow';
import { isPlainObject } from '../../core/json';
import { lastWakeUp } from '../../core/processMemory';
import { realClock } from '../connection/transport';

/** n8n may still be saving the execution that is to be called; each further pause is twice as long. Milliseconds. */
const FIRST_PAUSE_MS = 300;
const MOST_CALLS = 5;
const CALL_TIMEOUT_MS = 10_000;
/** The execution that is to be called is still being saved, or has been woken by another call. */
const CONFLICT = 409;
/**
 * A header for proxies. `fetch` refuses to send it through one, as it would with NODE_USE_ENV_PROXY: without it, the proxy
 * would see the signature. n8n does not read it.
 */
const FOR_NO_PROXY = { 'proxy-authorization': 'None' };
const REFUSED = 'UND_ERR_INVALID_ARG';
const THROUGH_PROXY = 'NODE_USE_ENV_PROXY would send the call through a proxy';
/** n8n's own name for what proves that a caller knows the address. */
const SIGNATURE = 'signature';

/** The way out, as an end of a sentence. */
export const adviceFor = (why: string): string =>
	why === THROUGH_PROXY
		? 'add the host of this n8n to NO_PROXY'
		: 'set WEBHOOK_URL to an address at which n8n can reach itself';

/** The reason why results come up to a minute late in this n8n; undefined where they do not, as far as is known. */
export const whyWokenLate = (): string | undefined => lastWakeUp.why;

/** The address by which n8n wakes this execution, while it sleeps in a Wait node. */
export function resumeUrlOf(context: IExecuteFunctions): string {
	const { $execution } = context.getWorkflowDataProxy(0) as { $execution?: { resumeUrl?: unknown } };
	return String($execution?.resumeUrl ?? '');
}

/** Wakes the sub-execution that has just fallen asleep. What goes wrong costs a minute: n8n wakes it by itself. */
export async function wakeUp(context: IExecuteFunctions, { executionId, data }: ExecuteWorkflowData): Promise<void> {
	const address = addressOf(context, executionId, data[0]?.[0]?.json.details);
	if (address === undefined) return;
	const why = await call(address);
	if (why !== `HTTP ${CONFLICT}`) lastWakeUp.why = why;
	if (why === undefined) return;
	context.logger.warn(
		`Generation Gateway: ${address.origin} did not wake execution ${executionId} (${why}), so n8n wakes it within about a minute. If that is always so, ${adviceFor(why)}`,
	);
}

/** By n8n's own settings, never by an item: from there comes the signature only. */
function addressOf(context: IExecuteFunctions, executionId: string, noted: unknown): URL | undefined {
	const url = String(isPlainObject(noted) ? noted.resume_url : undefined);
	const own = resumeUrlOf(context);
	if (!URL.canParse(url) || !URL.canParse(own)) return undefined;
	const address = new URL(own);
	address.pathname = address.pathname.replace(/[^/]*$/, executionId);
	const signature = new URL(url).searchParams.get(SIGNATURE);
	address.search = signature === null ? '' : new URLSearchParams({ [SIGNATURE]: signature }).toString();
	return address;
}

/** Calls until n8n has saved the execution. Returns why it did not wake it, without the address. */
async function call(address: URL): Promise<string | undefined> {
	for (let calls = 1, pauseMs = FIRST_PAUSE_MS; ; calls++, pauseMs *= 2) {
		await realClock.sleep(pauseMs);
		const why = await callOnce(address);
		if (why !== `HTTP ${CONFLICT}` || calls >= MOST_CALLS) return why;
	}
}

async function callOnce(address: URL): Promise<string | undefined> {
	try {
		const signal = AbortSignal.timeout(CALL_TIMEOUT_MS);
		const answer = await fetch(address, { headers: FOR_NO_PROXY, redirect: 'manual', signal });
		await answer.body?.cancel();
		if (!answer.ok) return `HTTP ${answer.status}`;
		// A login page is no answer of n8n's.
		return answer.headers.get('content-type')?.includes('json') ? undefined : 'the answer is not from n8n';
	} catch (thrown) {
		const { name, cause } = thrown as { name?: string; cause?: { code?: string; message?: string } };
		if (cause?.code === REFUSED) return THROUGH_PROXY;
		return cause?.code ?? cause?.message ?? name ?? 'no answer';
	}
}
