import type { IBinaryData, IBinaryKeyData, IExecuteFunctions, IN8nHttpFullResponse } from 'n8n-workflow';
import { onAbort } from '../../core/abort';
import type { MediaKind } from '../../core/client';
import { asGatewayError, gatewayError, GatewayError, stoppedError, type TaskReference } from '../../core/errors';
import { backoffMs } from '../../core/http/retry';
import { AddressNotAllowed, fileRules, openResultFile } from '../connection/resultFile';
import { connectionCode, realClock } from '../connection/transport';
import type { FileRules } from '../../core/addresses';
import { shorten } from '../../core/text';
import { FileNames, resultMimeType, whatNoFile, type ResultFile } from './fileNames';
import { formatSize, learnLimit, limitExceededBy } from './storageLimit';

const DOWNLOAD_TRIES = 4;

type BinarySource = Parameters<IExecuteFunctions['helpers']['prepareBinaryData']>[0];

type FileStream = BinarySource & {
	destroy?: () => void;
	on?: (event: 'error', listen: () => void) => unknown;
	readableEnded?: boolean;
};

export interface DownloadOptions {
	urls: string[];
	task: TaskReference;
	kind: MediaKind;
	/** The first file goes to this field, the others to `<name>_1`, `<name>_2`, … */
	fieldName: string;
	/** What the files are to be called; empty: as the service calls them. */
	fileName: string;
	signal: AbortSignal;
}

type NameFile = (file: ResultFile) => string;

/** Streams every result file into binary fields: memory stays flat whatever the size. */
export async function downloadResults(context: IExecuteFunctions, options: DownloadOptions): Promise<IBinaryKeyData> {
	const binary: IBinaryKeyData = {};
	const rules = await fileRules(context);
	const names = new FileNames(options.fileName);
	for (const [index, url] of options.urls.entries()) {
		const name = index === 0 ? options.fieldName : `${options.fieldName}_${index}`;
		const nameFile: NameFile = (file) => names.nameOf(file, `${options.task.taskId}_${index + 1}`);
		const file = await downloadWithRetries(context, url, nameFile, { ...options, rules });
		names.take(file.fileName ?? '');
		binary[name] = file;
	}
	return binary;
}

async function downloadWithRetries(
	context: IExecuteFunctions,
	url: string,
	nameFile: NameFile,
	{ task, kind, signal, rules }: DownloadOptions & { rules: FileRules },
): Promise<IBinaryData> {
	for (let attempt = 1; ; attempt++) {
		const own = new AbortController();
		const forget = onAbort(signal, () => own.abort());
		try {
			return await downloadOne(context, url, nameFile, task, kind, rules, own.signal);
		} catch (thrown) {
			if (signal.aborted) throw stoppedError(task);
			const error = asGatewayError(thrown);
			if (error.details.permanent) throw error;
			if (attempt >= DOWNLOAD_TRIES) throw notDownloaded(task, error);
			await realClock.sleep(backoffMs(attempt, realClock.random), signal);
			if (signal.aborted) throw stoppedError(task);
		} finally {
			forget();
		}
	}
}

async function downloadOne(
	context: IExecuteFunctions,
	url: string,
	nameFile: NameFile,
	task: TaskReference,
	kind: MediaKind,
	rules: FileRules,
	signal: AbortSignal,
): Promise<IBinaryData> {
	let response: IN8nHttpFullResponse;
	try {
		response = await openResultFile(context, url, rules, signal);
	} catch (thrown) {
		if (thrown instanceof AddressNotAllowed) {
			throw gatewayError(
				'downloadNotAllowed',
				{ id: task.taskId, host: thrown.host, urls: (task.urls ?? []).join(' ') },
				{ task, permanent: true },
			);
		}
		throw brokenDownload(`The file host sent no complete file (${connectionCode(thrown)})`);
	}
	const { statusCode, headers } = response;
	const body = response.body as unknown as FileStream;
	const contentType = String(headers['content-type'] ?? '');
	const mimeType = resultMimeType(contentType, url, kind);
	if (statusCode !== 200 || mimeType === undefined) {
		body.destroy?.();
		const what =
			statusCode === 200
				? `The file host sent ${whatNoFile(contentType)}`
				: `The file host answered with HTTP ${statusCode}`;
		throw brokenDownload(what, statusCode);
	}
	const bytes = Number(headers['content-length']);
	const limit = await limitExceededBy(bytes, context);
	if (limit !== undefined) {
		body.destroy?.();
		const data = { id: task.taskId, size: formatSize(bytes), limit: formatSize(limit), urls: urlsOf(task) };
		throw gatewayError('tooLargeToStore', data, { task, permanent: true });
	}
	const fileName = nameFile({ disposition: String(headers['content-disposition'] ?? ''), url, mimeType });
	return await store(context, body, fileName, mimeType, task);
}

/** What n8n says of a file that has not arrived as a whole: of its connection, not of storing it. */
const ABOUT_THE_STREAM =
	/^(stream closed before|response body timed out|failed to decompress|premature close|aborted)/i;
const OF_THE_CONNECTION = /^(E(CONN|PIPE|TIMEDOUT|HOST|NET|AI)|ERR_STREAM|UND_ERR)/;
/** A disk that does not take the file. The stream is then ended, too. */
const OF_THE_DISK = /^E(NOSPC|DQUOT|ACCES|PERM|ROFS|NOENT|NOTDIR|MFILE|NFILE|FBIG|IO)$/;

async function store(
	context: IExecuteFunctions,
	body: FileStream,
	fileName: string,
	mimeType: string,
	task: TaskReference,
): Promise<IBinaryData> {
	let broken = false;
	body.on?.('error', () => (broken = true));
	try {
		return await context.helpers.prepareBinaryData(body, fileName, mimeType);
	} catch (thrown) {
		const message = thrown instanceof Error ? thrown.message : String(thrown);
		const code = connectionCode(thrown);
		const isWhole = body.readableEnded === true;
		body.destroy?.();
		const isBroken =
			!OF_THE_DISK.test(code) && (broken || OF_THE_CONNECTION.test(code) || ABOUT_THE_STREAM.test(message));
		if (isBroken && !isWhole) throw brokenDownload(`The file host sent no complete file (${code})`);
		// n8n has the file, or could have it, and does not take it: another download would end the same way.
		learnLimit(message);
		throw gatewayError(
			'notStored',
			{ id: task.taskId, words: shorten(message.replace(/\.$/, ''), 400), urls: urlsOf(task) },
			{ task, permanent: true },
		);
	}
}

function brokenDownload(what: string, httpStatus?: number): GatewayError {
	return new GatewayError('download', what, { httpStatus });
}

function notDownloaded(task: TaskReference, { message: what, details: { httpStatus } }: GatewayError): GatewayError {
	const data = { id: task.taskId, what, urls: urlsOf(task) };
	return gatewayError('notDownloaded', data, { task, httpStatus });
}

/** As they can be copied: angle brackets are shown as others in a message, but mean the same when they are escaped. */
function urlsOf({ urls = [] }: TaskReference): string {
	return urls.join(' ').replaceAll('<', '%3C').replaceAll('>', '%3E');
}
