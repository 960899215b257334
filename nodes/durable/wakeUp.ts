import type { ExecuteWorkflowData, IExecuteFunctions } from 'n8n-workflow';
import { isPlainObject } from '../../core/json';
import { lastWakeUp } from '../../core/processMemory';
import { realClock } from '../connection/transport';

/** n8n may still be saving the execution that is to be called; each further pause is twice as long. Milliseconds. */
const FIRST_PAUSE_MS = 300;
const MOST_CALLS = 5;
const CALL_TIMEOUT_MS = 10_000;
/** The execution that is to be called is still being saved, or has been woken by somebody else. */
const CONFLICT = 409;
/** n8n's own name for what proves that a caller knows the address. */
const SIGNATURE = 'signature';

/** The reason why results come up to a minute late in this n8n; undefined where they do not, as far as is known. */
export const whyWokenLate = (): string | undefined => lastWakeUp.why;

/** The address by which n8n wakes this execution, while it sleeps in a Wait node. */
export function resumeUrlOf(context: IExecuteFunctions): string {
	const { $execution } = context.getWorkflowDataProxy(0) as { $execution?: { resumeUrl?: unknown } };
	return String($execution?.resumeUrl ?? '');
}

/**
 * Wakes the sub-execution that has just fallen asleep with its address as its output. Whatever goes wrong costs a minute
 * and no more: n8n wakes it by itself then.
 */
export async function wakeUp(context: IExecuteFunctions, { executionId, data }: ExecuteWorkflowData): Promise<void> {
	const address = addressOf(context, executionId, data[0]?.[0]?.json.details);
	if (address === undefined) return;
	const why = await call(address);
	if (why !== `HTTP ${CONFLICT}`) lastWakeUp.why = why;
	if (why === undefined) return;
	context.logger.warn(
		`Generation Gateway: ${address.origin} did not wake execution ${executionId} (${why}), so n8n wakes it within about a minute. If that is always so, set WEBHOOK_URL to the address at which this n8n can call itself`,
	);
}

/** By n8n's own settings, never by what stands in an item: from there comes the signature only. */
function addressOf(context: IExecuteFunctions, executionId: string, noted: unknown): URL | undefined {
	const url = isPlainObject(noted) ? noted.resume_url : undefined;
	const own = resumeUrlOf(context);
	if (typeof url !== 'string' || !URL.canParse(url) || !URL.canParse(own)) return undefined;
	const address = new URL(own);
	address.pathname = address.pathname.replace(/[^/]*$/, executionId);
	const signature = new URL(url).searchParams.get(SIGNATURE);
	address.search = signature === null ? '' : new URLSearchParams({ [SIGNATURE]: signature }).toString();
	return address;
}

/**
 * Calls until n8n has saved the execution. Returns why it did not wake it, without the address. `fetch` uses no proxy, and
 * sends nothing of ours.
 */
async function call(address: URL): Promise<string | undefined> {
	for (let calls = 1, pauseMs = FIRST_PAUSE_MS; ; calls++, pauseMs *= 2) {
		await realClock.sleep(pauseMs);
		const why = await callOnce(address);
		if (why !== `HTTP ${CONFLICT}` || calls >= MOST_CALLS) return why;
	}
}

async function callOnce(address: URL): Promise<string | undefined> {
	try {
		const answer = await fetch(address, { redirect: 'manual', signal: AbortSignal.timeout(CALL_TIMEOUT_MS) });
		await answer.body?.cancel();
		if (!answer.ok) return `HTTP ${answer.status}`;
		// A page where somebody is to log in is no answer of n8n's.
		return answer.headers.get('content-type')?.includes('json') ? undefined : 'the answer is not from n8n';
	} catch (thrown) {
		const { name, cause } = thrown as { name?: string; cause?: { code?: string; message?: string } };
		return cause?.code ?? cause?.message ?? name ?? 'no answer';
	}
}
