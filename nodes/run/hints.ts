import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { assetStateOf } from '../../core/avatars/records';
import { TABLE_NAME } from '../../core/labels';
import { plain } from '../errors/toNodeError';

// None of them may lead to running Generate again: that would buy everything again. n8n offers to add a node after this
// one, and runs this one again for it as soon as the page has been reloaded, unless the output is pinned.
const newWorkflow = (node: string) => `create a new workflow: a trigger, and after it ${node}`;
const GET_FILES = 'create a new workflow: a trigger, and after it Get Result with each task_id';
const KEEP_FILES = `To keep these files, ${GET_FILES}.`;
const SAY_WHERE = newWorkflow('Get Result with each task_id and the right path as Result Path in its options');
const AGAIN = ' While you build, pin this output first: otherwise n8n may run this node again, which buys new tasks.';

/** The credits that an account has used during a run. */
export interface UsedCredits {
	credits: number;
	usd: number;
}

/** The same in words, without a full stop. */
export const sayUsed = ({ credits, usd }: UsedCredits): string =>
	`The account has used ${credits} credits (${usd} USD) during this run`;

/** E.g. "2026-11-28 at 14:05 UTC", of a time in ISO 8601. */
function sayTime(time: string): string {
	return `${time.slice(0, 10)} at ${time.slice(11, 16)} UTC`;
}

/** The hints of the output panel, for things that are easily overlooked. */
export const HINTS = {
	tasksRunning: ({ count, buysAgain }: { count: number; buysAgain?: boolean }) =>
		`${count === 1 ? '1 task is' : `${count} tasks are`} still running. After this node, Get Result with {{ $json.task_id }} gets ${count === 1 ? 'its result' : 'their results'}.${buysAgain ? AGAIN : ''}`,
	assetsProcessed: ({ count }: { count: number }) =>
		count === 1
			? '1 asset is still being processed. To use it in videos, first wait for it with Asset → Get, Wait Until Active and its asset_id.'
			: `${count} assets are still being processed. To use them in videos, first wait for them with Asset → Get, Wait Until Active and each asset_id.`,
	asleep: ({ id }: { id: string }) =>
		`Execution ${id} is waiting for the tasks, even if n8n restarts. When all have finished, their results take the place of this output, and the workflow goes on. Until then, the data table ${TABLE_NAME} lists their IDs.`,
	furtherFiles: () =>
		'With Split Files Into Items, the further files come after the first file of each item, and n8n pairs them with other items. Match them by prompt.',
	inBackground: ({ name }: { name: string }) =>
		`"${name}" starts when the results are ready. To watch the progress, open the execution in execution_id.`,
	awake: ({ why, advice }: { why: string; advice?: string }) =>
		`Across Restarts has no effect here: ${why}. So the node waits in memory.${advice === undefined ? '' : ` ${advice}`}`,
	notInPurchaseLog: ({ why }: { why: string }) =>
		`Purchases of this run are not recorded in the data table "${TABLE_NAME}": ${why}. So a retry after a crash of n8n submits nothing, because it cannot know what was bought. To run without it, and without this hint, turn off Purchase Log in the credential.`,
	rowsMissing: ({ why }: { why: string }) =>
		`n8n could not write or read rows of this run in the data table "${TABLE_NAME}": ${why}. A retry after a crash of n8n does not submit what these rows are about, because it cannot know what was bought.`,
	reused: ({ count, time }: { count: number; time: string }) =>
		`${
			count === 1
				? `1 item got a task that this node has bought before, on ${sayTime(time)}. Nothing was bought for it.`
				: `${count} items got tasks that this node has bought before, the oldest on ${sayTime(time)}. Nothing was bought for them.`
		} To buy again, turn off Reuse While Building.`,
	nothingReused: ({ why }: { why: string }) => `Reuse While Building has no effect here: ${why}.`,
	reuseWhileBuilding: () =>
		'While you build, turn on Reuse While Building in the options: then Execute step does not buy the same again for 24 hours.',
	runCredits: (used: UsedCredits) =>
		`${sayUsed(used)}. This includes everything that used the account meanwhile; the service may book some of it later.`,
	creditsUnknown: ({ why }: { why: string }) =>
		`It is not known what this run has used, because the used credits of the account could not be read: ${why}.`,
	wokenLate: ({ why, advice }: { why: string; advice: string }) =>
		`Results may arrive up to a minute late: this n8n could not call itself (${why}). To change this, ${advice}.`,
	/** @param when e.g. "expire in about 5 hours" */
	urlsExpire: ({ when }: { when: string }) => `Result URLs ${when}. ${KEEP_FILES}`,
	urlsExpired: () => `Result URLs have expired. To see if the service still has the files, ${GET_FILES}.`,
	endedByRecord: ({ status }: { status: string }) =>
		`The service ended a task with ${status === '' ? 'no status' : `the status "${status}"`}, which this node does not know. Its result, and a progress of 100 or none, say that it is complete. Check that the result is the finished one.`,
	errorBesideResult: ({ words }: { words: string }) =>
		`The service gave a result, and said beside it: "${words}". Check the result.`,
	urlsWantKey: () =>
		`Result URLs are at the address of the service itself, and may open only with the API key. To get the files, ${GET_FILES}.`,
	partsMissing: () =>
		'The service has completed a task without all of its results. In its item, missing_results says how many are missing, and missing_reason why, if the service says so.',
	noMedium: ({ type }: { type: string }) =>
		`A result file is not an image, a video or audio, but ${type}. Open it before you use it.`,
	playlist: () =>
		'A result URL leads to a playlist (.m3u8 or .mpd), not to a video file. It lists the pieces of a video for a player: most other programs cannot use it.',
	resultFound: ({ place }: { place: string }) =>
		`The result was found at ${place} in the record. If that is not the result, ${SAY_WHERE}.`,
	resultUnclear: ({ places }: { places: string }) =>
		`The result may be at ${places} in the record. To get it, ${SAY_WHERE}.`,
	resultNotFound: () =>
		`The record of a completed task has no result URL. If the result is somewhere else in it, ${SAY_WHERE}.`,
	resultNotAtPath: ({ path }: { path: string }) =>
		`Result Path ${path} leads to no URL in the record of a completed task. To get the result, ${SAY_WHERE}.`,
	noDownloadLink: () =>
		'There is no download link: n8n makes links only for files that it stores, and it keeps the files of this execution in memory. Set N8N_DEFAULT_BINARY_DATA_MODE to filesystem to get links.',
	notSent: ({ labels, count, model }: { labels: string; count: number; model: string }) =>
		count === 1
			? `${labels} was not sent: ${model} does not support it.`
			: `${labels} were not sent: ${model} does not support them.`,
	notSentWithOthers: ({ label }: { label: string }) =>
		`${label} was not sent: it cannot be combined with the other values.`,
	firstImages: ({ count, model }: { count: number; model: string }) =>
		`Only the first ${count} images of an item are sent: ${model} uses no more.`,
	imageNotThere: () =>
		'A prompt names an image that its item does not have (image_1 is the first). The service may take the name as text.',
	nothingToSpend: () =>
		'This API key cannot spend anything, because Amount was 0. Create another one with an amount, or with Quota set to Unlimited.',
	noVerificationLink: () =>
		'The service gave no link (h5_link) for a verification. Try again later, or create a new verification.',
	apiKeyOnce: () => 'The service shows api_key only this once: store it now.',
};

/** A kind of thing that may not have finished when a run ends. */
export type Unfinished = 'task' | 'asset';

const HAS_ENDED: Record<Unfinished, (status: string) => boolean> = {
	task: (status) => status === 'completed' || status === 'failed',
	asset: (status) => assetStateOf(status) !== 'pending',
};
const HOUR_MS = 3_600_000;
/** Links that expire later need no hint. */
const SOON_MS = 48 * HOUR_MS;

/** n8n shows each hint in a box of its own above the output, and stores them all with the execution. */
const MOST_HINTS = 10;

/** Shows hints of a run in the output panel, each once. Those of items come first, and may be many; those of the whole run last. */
export function showHints(context: IExecuteFunctions, hints: string[]): void {
	const all = [...new Set(hints)];
	const shown = all.length > MOST_HINTS ? [...all.slice(0, MOST_HINTS / 2), ...all.slice(-MOST_HINTS / 2)] : all;
	for (const message of shown) context.addExecutionHints?.({ message: plain(message), location: 'outputPane' });
}

/**
 * The hints that the output itself gives.
 *
 * @param what may not have finished yet
 * @param buysAgain to run the node again would buy the same again
 */
export function hintsFor(
	output: INodeExecutionData[],
	{ what, buysAgain }: { what: Unfinished; buysAgain: boolean },
): string[] {
	// Another execution waits for an item that names it: a hint of its own says so.
	const items = output.filter(({ json }) => json.error === undefined && json.execution_id === undefined);
	const count = items.filter(({ json }) => !HAS_ENDED[what](String(json.status))).length;
	const unfinished = what === 'task' ? HINTS.tasksRunning({ count, buysAgain }) : HINTS.assetsProcessed({ count });
	return [...(count === 0 ? [] : [unfinished]), ...aboutExpiry(items, Date.now())];
}

/** About results that were not downloaded. */
function aboutExpiry(items: INodeExecutionData[], nowMs: number): string[] {
	const left = items.filter(
		({ json, binary }) => json.status === 'completed' && json.url !== undefined && binary === undefined,
	);
	if (left.length === 0) return [];
	// An input field that is passed on may have this name.
	const times = left.flatMap(({ json: { expires_at: time } }) => {
		const atMs = typeof time === 'string' ? Date.parse(time) : NaN;
		return Number.isNaN(atMs) ? [] : [atMs - nowMs];
	});
	if (times.length === 0) return [HINTS.urlsExpire({ when: 'usually expire, for example after 24 hours' })];
	const leftMs = times.reduce((first, time) => Math.min(first, time));
	if (leftMs > SOON_MS) return [];
	if (leftMs <= 0) return [HINTS.urlsExpired()];
	const hours = Math.round(leftMs / HOUR_MS);
	return [HINTS.urlsExpire({ when: hours <= 1 ? 'expire within about an hour' : `expire in about ${hours} hours` })];
}
