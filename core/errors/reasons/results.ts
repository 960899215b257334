import { continueTask, continueWith, thenContinueTask } from '../recovery';
import type { CatalogueEntry, Situation } from '../catalogueEntry';

interface Result {
	id: string;
}
interface Urls {
	urls: string;
}

/** In a batch, the retry gets the files, and the panel has no room. */
const urlsOf = (urls: string, { others }: Situation) => (others ? '' : ` Result URLs: ${urls}`);

const asUrls = (situation: Situation) => continueWith(situation, 'Result', 'URL Only');

/** Results of completed tasks, and their files. */
export const RESULTS = {
	noResultUrl: {
		kind: 'noResult',
		message: ({ id, path }: Result & { path?: string }) =>
			path === undefined
				? `Task ${id} is complete, but the service gave no result URL`
				: `Task ${id} is complete, but there is no URL at ${path} in its record`,
		advice: ({ record, path }: { record: string; path?: string }, situation) => {
			const read = continueWith(situation, 'Result Path', path === undefined ? 'its path' : 'the right path');
			return `${path === undefined ? 'If the record contains the result: ' : ''}${read} The record: ${record}`;
		},
		permanent: true,
	},
	downloadNotAllowed: {
		kind: 'download',
		message: ({ id, host }: Result & { host: string }) =>
			`The result of task ${id} is at ${host}, and downloads from there are not allowed`,
		advice: ({ urls }: Urls, situation) =>
			`If this private address is your service's, turn on Advanced and Private Network in the credential. ${thenContinueTask(situation)}${urlsOf(urls, situation)}`,
		permanent: true,
	},
	downloadFailed: {
		kind: 'download',
		message: ({ id }: Result) => `The result of task ${id} could not be downloaded`,
		advice: ({ what, urls }: Urls & { what: string }, situation) =>
			`${what}. The task is complete. ${continueTask(situation)}${urlsOf(urls, situation)}`,
	},
	resultsTooLargeToStore: {
		kind: 'download',
		code: 'result_too_large',
		message: ({ id }: Result) =>
			`The result of task ${id} is too large for n8n to store it with the others of this run`,
		advice: (_: object, situation) =>
			`The task is complete. ${asUrls(situation)} To get files in further runs, run fewer items at the same time.`,
		permanent: true,
	},
	tooManyResultFiles: {
		kind: 'download',
		code: 'result_too_large',
		message: ({ id, count, max }: Result & { count: number; max: number }) =>
			`Task ${id} has ${count} result files, and this node downloads at most ${max}`,
		advice: ({ urls }: Urls, situation) =>
			`Nothing was downloaded. ${asUrls(situation)} If they are not the result, enter its path as Result Path. Result URLs: ${urls}`,
		permanent: true,
	},
	resultIsPlaylist: {
		kind: 'download',
		message: ({ id }: Result) => `The result of task ${id} is a playlist, not a video file`,
		advice: ({ urls }: Urls, situation) =>
			`The task is complete. Open its URL in a video player, or convert it with another tool. ${asUrls(situation)} Result URLs: ${urls}`,
		permanent: true,
	},
	resultTooLarge: {
		kind: 'download',
		message: ({ id }: Result) => `The result of task ${id} is larger than this node downloads`,
		advice: ({ limit, which, urls }: Urls & { limit: string; which: string }, situation) =>
			`The task is complete. The node downloads at most ${limit} for one task${which}: use its URL. ${asUrls(situation)} Result URLs: ${urls}`,
		permanent: true,
	},
	resultTooLargeToStore: {
		kind: 'download',
		code: 'result_too_large',
		message: ({ id }: Result) => `The result of task ${id} is too large for this n8n, and was not downloaded`,
		advice: ({ size, limit, urls }: Urls & { size: string; limit: string }, situation) =>
			`It is ${size}: this n8n stores at most ${limit}. Use the URLs, or change how n8n stores files. ${thenContinueTask(situation)} Result URLs: ${urls}`,
		permanent: true,
	},
	resultNotStored: {
		kind: 'download',
		code: 'download_failed',
		message: ({ id }: Result) => `The result of task ${id} could not be stored`,
		advice: ({ words, urls }: Urls & { words: string }, situation) =>
			`The task is complete. n8n says: "${words}". Fix this in n8n. ${thenContinueTask(situation)}${urlsOf(urls, situation)}`,
		permanent: true,
	},
} satisfies Record<string, CatalogueEntry>;
