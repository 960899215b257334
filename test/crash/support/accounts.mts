/** The accounts of the executions: two keys of one user, so that Get Result gets the tasks of both. */
import { credentialType } from '../../../tools/n8n/examples.mjs';
import { withoutPurchaseLog } from '../../n8n/support/purchaseLog.mts';
import type { Signed } from '../../n8n/support/workflow.mts';
import type { Target } from './target.mts';

export interface Account {
	requestsPerSecond: number;
	logs: Signed;
	withoutLog: Signed;
}

/** The default of the credential. */
const USUAL_PER_SECOND = 60;
/** 50 items take seconds, also where three executions begin one after the other. */
const SLOW_PER_SECOND = 4;

export async function accountsOf(target: Target): Promise<{ usual: Account; slow: Account }> {
	const slow = await withFewRequests(target);
	return {
		usual: { requestsPerSecond: USUAL_PER_SECOND, logs: target, withoutLog: await withoutPurchaseLog(target) },
		slow: { requestsPerSecond: SLOW_PER_SECOND, logs: slow, withoutLog: await withoutPurchaseLog(slow) },
	};
}

async function withFewRequests({ rest, credential, sandbox }: Target): Promise<Signed> {
	const answer = await fetch(`${sandbox.baseUrl}/v1/tokens`, {
		method: 'POST',
		headers: { authorization: `Bearer ${sandbox.apiKey}`, 'content-type': 'application/json' },
		body: JSON.stringify({ name: 'slow', unlimited_quota: true }),
	});
	const { data: token } = (await answer.json()) as { data: { key: string } };
	const data = { ...credential.data, apiKey: `sk-${token.key}`, advanced: true, requestsPerSecond: SLOW_PER_SECOND };
	const { id, name } = await rest.request('POST', '/rest/credentials', { name: 'Slow', type: credentialType, data });
	return { rest, credential: { id: String(id), name: String(name), data } };
}
