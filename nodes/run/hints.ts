import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { isTool } from './agentTools';

interface Hint {
	message: string;
}

/** What may still be under way when a run has ended, and how to go on. */
const UNFINISHED = {
	task: (count: number): Hint => ({
		message:
			count === 1
				? '1 task goes on in the service. To get the result, continue with Wait for Task and its task_id.'
				: `${count} tasks go on in the service. To get the results, continue with Wait for Task and each task_id.`,
	}),
	asset: (count: number): Hint => ({
		message:
			count === 1
				? '1 asset is still being processed. Videos can use it after Asset → Wait for Asset with its asset_id.'
				: `${count} assets are still being processed. Videos can use them after Asset → Wait for Asset with each asset_id.`,
	}),
};

const ENDED = /^(completed|failed|active)$/i;
const HOUR_MS = 3_600_000;
/** Later than that is nothing to think of now. */
const SOON_MS = 48 * HOUR_MS;

/**
 * Says below the output what is easily overlooked: one hint for each kind at most, however many items there are.
 * An agent does not see hints, so a tool gives none.
 */
export function addHints(context: IExecuteFunctions, output: INodeExecutionData[], unfinished?: keyof typeof UNFINISHED): void {
	if (isTool(context.getNode())) return;
	const items = output.filter(({ json }) => json.error === undefined);
	const hints = [unfinished && aboutUnfinished(items, unfinished), aboutExpiry(items, Date.now())];
	for (const hint of hints) {
		if (hint !== undefined) context.addExecutionHints?.({ ...hint, location: 'outputPane' });
	}
}

function aboutUnfinished(items: INodeExecutionData[], kind: keyof typeof UNFINISHED): Hint | undefined {
	const count = items.filter(({ json }) => !ENDED.test(String(json.status))).length;
	return count === 0 ? undefined : UNFINISHED[kind](count);
}

/** About results that nobody has downloaded. */
function aboutExpiry(items: INodeExecutionData[], nowMs: number): Hint | undefined {
	const left = items.filter(({ json, binary }) => json.status === 'completed' && json.url !== undefined && binary === undefined);
	if (left.length === 0) return undefined;
	const keep = 'To keep the files, turn on Download Result.';
	const times = left.flatMap(({ json }) => (typeof json.expires_at === 'number' ? [json.expires_at * 1000 - nowMs] : []));
	if (times.length === 0) return { message: `Result URLs expire, usually after 24 hours. ${keep}` };
	const leftMs = Math.min(...times);
	if (leftMs > SOON_MS) return undefined;
	if (leftMs <= 0) return { message: `Result URLs have expired. ${keep}` };
	const hours = Math.round(leftMs / HOUR_MS);
	return { message: `Result URLs expire ${hours <= 1 ? 'within about an hour' : `in about ${hours} hours`}. ${keep}` };
}
