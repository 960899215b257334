import type { ErrorShape } from '../http/refusal.mts';
import { parseAnswers, shapeNamed, type PlannedAnswer } from './answers.mts';
import { SAMPLES, type Sample } from '../files/samples.mts';
import { oneOf, time, wholeNumber } from './values.mts';

/** The directives of one task, asset or request; help.txt describes the keys. */

export const PROGRESS_SHAPES = ['linear', 'fast', 'steps', 'stuck', 'jump', 'missing', 'string', 'percent'] as const;
export type ProgressShape = (typeof PROGRESS_SHAPES)[number];

export const RESULT_SHAPES = [
	'result_data',
	'url',
	'video_url',
	'data',
	'output',
	'output_objects',
	'outputs',
	'outputs_objects',
	'images',
	'images_objects',
	'metadata_url',
	'metadata_result_urls',
	'content_video_url',
	'results',
	'image_url',
	'audio_url',
	'result_video_url',
	'output_images',
	'metadata_images',
	'url_and_images',
	'two_places',
	'poster_and_videos',
	'b64_json',
	'none',
] as const;
export type ResultShape = (typeof RESULT_SHAPES)[number];

/** The address of the result files. */
export const RESULT_PLACES = ['files', 'gateway', 'gateway_redirect', 'bounce', 'relative', 'no_scheme'] as const;
export type ResultPlace = (typeof RESULT_PLACES)[number];

export const FAILURE_SHAPES = ['error_object', 'error_string', 'message', 'fail_reason'] as const;
export type FailureShape = (typeof FAILURE_SHAPES)[number];

const CREATED_SHAPES = [
	'plain',
	'no_id',
	'task_id',
	'wrapped',
	'wrapped_task_id',
	'in_request',
	'in_request_task_id',
	'camel',
	'list',
	'bare',
	'user',
] as const;
export type CreatedShape = (typeof CREATED_SHAPES)[number];

/** The IDs in status records: its own, none, or that of the service behind, in every record or in the last one only. */
export const STATUS_IDS = ['own', 'none', 'behind', 'behind_end', 'both'] as const;

/** Errors that a completed record has beside its result. */
export const ERRORS_BESIDE = ['none', 'words', 'code', 'null', 'empty', 'zero'] as const;

/** The places where a completed record repeats the URLs of its request. */
export const ECHOES = ['none', 'input', 'sources', 'images'] as const;

/** The place of the URL in the answer to an upload. */
export const UPLOAD_ANSWERS = [
	'data_url',
	'url',
	'data_list',
	'data',
	'data_image_url',
	'file_link',
	'relative',
	'none',
] as const;
export type UploadAnswer = (typeof UPLOAD_ANSWERS)[number];

export const THUMBNAILS = ['top', 'result', 'item', 'metadata', 'none'] as const;
export const DISPOSITIONS = ['attachment', 'utf8', 'inline', 'none'] as const;

export interface Directives {
	durationMs?: number;
	queuedMs?: number;
	/** Status reads answer 404 for this long after acceptance. */
	hiddenMs: number;
	/** Until `expires_at`, counted from completion. */
	expiresMs: number;
	progress: ProgressShape;
	/** Error code with which the task, asset or verification fails. */
	fail?: string;
	failMessage?: string;
	failAs: FailureShape;
	result?: ResultShape;
	resultAt: ResultPlace;
	/** The number of results that are not made: an error stands in the place of each. */
	missing: number;
	/** Status reads answer `{success: true, data: {…}}`. */
	wrapped?: boolean;
	thumbnail: (typeof THUMBNAILS)[number];
	echo: (typeof ECHOES)[number];
	/** Status words used instead of the contract's four. */
	words: { queued?: string; running?: string; done?: string; failed?: string };
	/** The case of status words. */
	letterCase: 'plain' | 'upper' | 'title';
	/** An id that must be URL-encoded. */
	oddId: boolean;
	created: CreatedShape;
	ids: (typeof STATUS_IDS)[number];
	beside: (typeof ERRORS_BESIDE)[number];
	/** An unfinished record has the URL of a preview where a result would stand. */
	preview: boolean;
	/** Answers of the creation, of status reads and of result files; used up in order. */
	create: PlannedAnswer[];
	poll: PlannedAnswer[];
	file: PlannedAnswer[];
	errorShape?: ErrorShape;
	/** The result file is a stream of this many megabytes. */
	megabytes?: number;
	bytesPerSecond?: number;
	disposition?: (typeof DISPOSITIONS)[number];
	contentType?: string;
	/** The bytes of the file, instead of a real picture or video. */
	fileAs?: Sample;
	/** The extension of the file in its URL; empty: none. */
	extension?: string;
	/** The name that the file has in its header Content-Disposition. */
	fileName?: string;
	/** Accept a model that the service does not know, with any fields. */
	anyModel: boolean;
	uploadAnswer: UploadAnswer;
	/** Append to the callback URL with a second `?`. */
	naiveCallback?: boolean;
}

const DAY_MS = 24 * 3_600_000;

export function defaults(): Directives {
	return {
		hiddenMs: 0,
		expiresMs: DAY_MS,
		progress: 'linear',
		failAs: 'error_object',
		resultAt: 'files',
		missing: 0,
		thumbnail: 'top',
		echo: 'none',
		words: {},
		letterCase: 'plain',
		oddId: false,
		created: 'plain',
		ids: 'own',
		beside: 'none',
		preview: false,
		create: [],
		poll: [],
		file: [],
		anyModel: false,
		uploadAnswer: 'data_url',
	};
}

type Setter = (into: Directives, value: string) => void;

/** Every key, and what its value changes. */
export const SETTERS: Record<string, Setter> = {
	duration: (into, value) => {
		into.durationMs = time(value);
	},
	queued: (into, value) => {
		into.queuedMs = time(value);
	},
	hidden: (into, value) => {
		into.hiddenMs = time(value);
	},
	expires: (into, value) => {
		into.expiresMs = time(value);
	},
	progress: (into, value) => {
		into.progress = oneOf(PROGRESS_SHAPES, value);
	},
	fail: (into, value) => {
		into.fail = value;
	},
	message: (into, value) => {
		into.failMessage = value;
	},
	fail_as: (into, value) => {
		into.failAs = oneOf(FAILURE_SHAPES, value);
	},
	result: (into, value) => {
		into.result = oneOf(RESULT_SHAPES, value);
	},
	missing: (into, value) => {
		into.missing = wholeNumber(value);
	},
	result_at: (into, value) => {
		into.resultAt = oneOf(RESULT_PLACES, value);
	},
	record: (into, value) => {
		into.wrapped = oneOf(['plain', 'wrapped'], value) === 'wrapped';
	},
	thumbnail: (into, value) => {
		into.thumbnail = oneOf(THUMBNAILS, value);
	},
	echo: (into, value) => {
		into.echo = oneOf(ECHOES, value);
	},
	queued_word: (into, value) => {
		into.words.queued = value;
	},
	running_word: (into, value) => {
		into.words.running = value;
	},
	done_word: (into, value) => {
		into.words.done = value;
	},
	failed_word: (into, value) => {
		into.words.failed = value;
	},
	case: (into, value) => {
		into.letterCase = oneOf(['plain', 'upper', 'title'], value);
	},
	id: (into, value) => {
		into.oddId = oneOf(['plain', 'odd'], value) === 'odd';
	},
	created: (into, value) => {
		into.created = oneOf(CREATED_SHAPES, value);
	},
	ids: (into, value) => {
		into.ids = oneOf(STATUS_IDS, value);
	},
	beside: (into, value) => {
		into.beside = oneOf(ERRORS_BESIDE, value);
	},
	preview: (into, value) => {
		into.preview = oneOf(['none', 'url'], value) === 'url';
	},
	create: (into, value) => {
		into.create = parseAnswers(value);
	},
	poll: (into, value) => {
		into.poll = parseAnswers(value);
	},
	file: (into, value) => {
		into.file = parseAnswers(value);
	},
	errors: (into, value) => {
		into.errorShape = shapeNamed(value);
	},
	bytes: (into, value) => {
		into.megabytes = wholeNumber(value);
	},
	bytes_per_second: (into, value) => {
		into.bytesPerSecond = wholeNumber(value);
	},
	disposition: (into, value) => {
		into.disposition = oneOf(DISPOSITIONS, value);
	},
	type: (into, value) => {
		into.contentType = value;
	},
	file_as: (into, value) => {
		into.fileAs = oneOf(SAMPLES, value);
	},
	extension: (into, value) => {
		into.extension = value === 'none' ? '' : value;
	},
	file_name: (into, value) => {
		into.fileName = value;
	},
	model: (into, value) => {
		into.anyModel = oneOf(['known', 'any'], value) === 'any';
	},
	upload_answer: (into, value) => {
		into.uploadAnswer = oneOf(UPLOAD_ANSWERS, value);
	},
	callback: (into, value) => {
		into.naiveCallback = oneOf(['proper', 'naive'], value) === 'naive';
	},
};
