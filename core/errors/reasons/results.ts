import { buysAgain, getFile, readAgain, then, upperFirst, withNode } from '../recovery';
import type { Row } from '../row';

interface Result {
	id: string;
}
interface Urls {
	urls: string;
}

/** Results of completed tasks, and their files. */
export const RESULTS = {
	noResultUrl: {
		kind: 'noResult',
		message: ({ id }: Result) => `Task ${id} is complete, but the service gave no result URL`,
		advice: ({ record }: { record: string }, situation) =>
			`If the record contains the result, ${readAgain(situation, 'its path')} If the record does not contain it, ask the operator of the service about this ID. The record: ${record}. Get Task returns all of it with Simplify turned off.`,
		permanent: true,
		retryContinues: true,
	},
	noResultAtPath: {
		kind: 'noResult',
		message: ({ id, path }: Result & { path: string }) =>
			`Task ${id} is complete, but there is no URL at ${path} in its record`,
		advice: ({ record }: { record: string }, situation) =>
			`The task is not lost. ${upperFirst(readAgain(situation, 'the right path'))} The record: ${record}. Get Task returns all of it with Simplify turned off.`,
		permanent: true,
		retryContinues: true,
	},
	downloadNotAllowed: {
		kind: 'download',
		message: ({ id, host }: Result & { host: string }) =>
			`The result of task ${id} is at ${host}, and downloads from there are not allowed`,
		advice: ({ urls }: Urls, situation) =>
			`The task is complete, and its result is not lost. The node does not download result files from addresses in private networks, so that a service cannot read what only the n8n host can reach. If this address belongs to your service, turn on Allow Private Addresses in the credential. ${then(getFile(situation))} Result URLs: ${urls}`,
		permanent: true,
		retryContinues: true,
	},
	downloadFailed: {
		kind: 'download',
		message: ({ id }: Result) => `The result of task ${id} could not be downloaded`,
		advice: ({ what, urls }: Urls & { what: string }, situation) =>
			`${what}. The task is complete, and its result is not lost. ${getFile(situation)} Result URLs: ${urls}`,
		retryContinues: true,
	},
	tooManyResultFiles: {
		kind: 'download',
		message: ({ id, count, max }: Result & { count: number; max: number }) =>
			`Task ${id} has ${count} result files, and this node downloads at most ${max}`,
		advice: ({ urls }: Urls, situation) =>
			`Nothing was downloaded. The task is complete, and its result is not lost. To get the list of all URLs, ${withNode(situation, 'Get Task with this task ID and Download Result turned off')}. Then download the files that you need with the HTTP Request node. If these URLs are not the result, enter its path as Result Path in the options.${buysAgain(situation)} Result URLs: ${urls}`,
		permanent: true,
	},
	resultTooLarge: {
		kind: 'download',
		message: ({ id }: Result) => `The result of task ${id} is larger than this node downloads`,
		advice: ({ limit, which, urls }: Urls & { limit: string; which: string }, situation) =>
			`The task is complete, and its result is not lost. The node downloads at most ${limit} for one task${which}. Download the file from its URL in another way.${buysAgain(situation)} Result URLs: ${urls}`,
		permanent: true,
	},
	resultTooLargeToStore: {
		kind: 'download',
		message: ({ id }: Result) => `The result of task ${id} is too large for this n8n, and was not downloaded`,
		advice: ({ size, limit, urls }: Urls & { size: string; limit: string }, situation) =>
			`The task is complete, and its result is not lost. The file is ${size}, and this n8n stores at most ${limit}. Use the URLs below, or change how n8n stores binary data. ${then(getFile(situation))} Result URLs: ${urls}`,
		permanent: true,
		retryContinues: true,
	},
	resultNotStored: {
		kind: 'download',
		message: ({ id }: Result) => `The result of task ${id} could not be stored`,
		advice: ({ words, urls }: Urls & { words: string }, situation) =>
			`The task is complete, and its result is not lost. n8n says: "${words}". Fix this in n8n. ${then(getFile(situation))} Result URLs: ${urls}`,
		permanent: true,
		retryContinues: true,
	},
} satisfies Record<string, Row>;
