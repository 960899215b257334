import type { Directives, FailureShape, ResultPlace } from '../faults/directives.mts';
import { imageFile } from '../files/imageFile.mts';
import { wordsFor } from '../http/refusal.mts';
import { resultFields } from './resultShapes.mts';
import { statusWord } from './statusWord.mts';
import type { SandboxTask } from './tasks.mts';
import type { Addresses } from './world.mts';

type Record_ = Record<string, unknown>;

/** The ID of the request itself, which is none of a task. */
const REQUEST_ID = 'req_1';

/** The answer to a creation: exactly contract section 2.3, unless the prompt asks for another shape. */
export function createdRecord(task: SandboxTask): Record_ {
	const { id, ...rest } = {
		...head(task),
		status: statusWord('queued', task.directives),
		progress: 0,
		created_at: seconds(task.acceptedAt),
		metadata: {},
	};
	switch (task.directives.created) {
		case 'plain':
			return { id, ...rest };
		case 'no_id':
			return rest;
		case 'task_id':
			return { task_id: id, ...rest };
		case 'wrapped':
			return { success: true, data: { id, ...rest } };
		case 'wrapped_task_id':
			return { success: true, data: { task_id: id, ...rest } };
		case 'in_request':
			return { id: REQUEST_ID, success: true, data: { id, ...rest } };
		case 'in_request_task_id':
			return { id: REQUEST_ID, status: 'success', data: { task_id: id } };
		case 'camel':
			return { code: 0, data: { taskId: id } };
		case 'list':
			return { code: 200, data: [{ status: 'submitted', task_id: id }] };
		case 'bare':
			return { code: 'success', data: id };
		case 'user':
			return { data: { user: { id: 'user_1' }, reference: id } };
	}
}

/** The addresses of the API and of the result-file host, without a slash at the end. */
type Bases = Pick<Addresses, 'api' | 'files'>;

/** The answer to a status read at this moment. */
export async function statusRecord(task: SandboxTask, bases: Bases): Promise<Record_> {
	const { phase, progress } = task.state();
	const record: Record_ = {
		...idsOf(task, phase === 'completed' || phase === 'failed'),
		status: statusWord(phase, task.directives),
		...(progress === undefined ? {} : { progress }),
		created_at: seconds(task.acceptedAt),
		metadata: {},
		...(phase === 'completed' ? await completedFields(task, bases) : {}),
		...(phase === 'failed' ? failedFields(task.directives) : {}),
		...(phase === 'in_progress' && task.directives.preview
			? { url: `${bases.files}/thumbnails/${encodeURIComponent(task.id)}.png` }
			: {}),
	};
	return task.directives.wrapped ? { success: true, data: record } : record;
}

/** The path of a result file at the API itself, which wants the key there; file number `index` from 0. */
export function contentPath({ kind, id }: SandboxTask, index: number): string {
	const path = `/v1/${kind}s/${encodeURIComponent(id)}/content`;
	return index === 0 ? path : `${path}/${index}`;
}

/** The name of a result file at the file host. */
function fileName({ kind, directives: { megabytes, extension } }: SandboxTask, index: number): string {
	const ending = extension ?? (kind === 'image' ? 'png' : 'mp4');
	const size = megabytes === undefined ? '' : `-${megabytes}MB`;
	return `${index}${size}${ending === '' ? '' : `.${ending}`}`;
}

/** The path of a result file at the file host. */
export function filePath(task: SandboxTask, index: number): string {
	return `/results/${encodeURIComponent(task.id)}/${fileName(task, index)}`;
}

/** The URLs of the result files. */
function resultUrls(task: SandboxTask, { api, files }: Bases): string[] {
	const places: Record<ResultPlace, (index: number) => string> = {
		files: (index) => files + filePath(task, index),
		bounce: (index) => files + filePath(task, index),
		gateway: (index) => api + contentPath(task, index),
		gateway_redirect: (index) => api + contentPath(task, index),
		relative: (index) => contentPath(task, index),
		no_scheme: (index) => files.replace(/^https?:/, '') + filePath(task, index),
	};
	return Array.from({ length: task.output.files }, (_, index) => places[task.directives.resultAt](index));
}

/** What the prompt says besides its directives. */
export function wordsOf({ effective }: SandboxTask): string {
	return String(effective.prompt ?? '')
		.replace(/\[\[sandbox\b[^\]]*\]\]/g, '')
		.trim();
}

/** The bytes of one image of the task: the scene of its prompt in the pixel size that was asked for. */
export function taskImage(task: SandboxTask, index: number): Promise<Buffer> {
	const { width, height } = task.output;
	const seed = `${task.effective.prompt}#${index}`;
	return imageFile({ width, height }, seed, wordsOf(task) + (index === 0 ? '' : ` (${index + 1})`));
}

/** Gateways pass on the record of the service behind them, with its ID (field notes). */
function idsOf(task: SandboxTask, hasEnded: boolean): Record_ {
	const { id, ...rest } = head(task);
	switch (task.directives.ids) {
		case 'own':
			return { id, ...rest };
		case 'none':
			return rest;
		case 'both':
			return { id: `row_${id}`, task_id: id, ...rest };
		case 'behind':
			return { id: `behind_${id}`, ...rest };
		case 'behind_end':
			return { id: hasEnded ? `behind_${id}` : id, ...rest };
	}
}

const BESIDE: Record<Directives['beside'], Record_> = {
	none: {},
	words: { error: { code: 'upscale_failed', message: 'The result was not upscaled' } },
	code: { error: { code: 'upscale_failed' } },
	null: { error: null },
	empty: { error: {}, fail_reason: '' },
	zero: { error: { code: 0, message: '' } },
};

function head({ id, model }: SandboxTask): Record_ & { id: string } {
	return { id, object: 'generation.task', model };
}

async function completedFields(task: SandboxTask, bases: Bases): Promise<Record_> {
	const format = task.effective.response_format ?? 'url';
	const shape = task.directives.result ?? (format === 'url' ? 'result_data' : 'b64_json');
	const files: string[] = [];
	if (shape === 'b64_json') {
		for (let index = 0; index < task.output.files; index += 1) {
			files.push((await taskImage(task, index)).toString('base64'));
		}
	} else {
		files.push(...resultUrls(task, bases));
	}
	const completedAt = seconds(task.endsAt);
	return {
		completed_at: completedAt,
		expires_at: completedAt + Math.floor(task.directives.expiresMs / 1_000),
		...echoOf(task),
		...BESIDE[task.directives.beside],
		...resultFields(shape, task.kind, files, task.directives.missing, {
			place: shape === 'none' || shape === 'b64_json' ? 'none' : task.directives.thumbnail,
			url: `${bases.files}/thumbnails/${encodeURIComponent(task.id)}.png`,
		}),
	};
}

/** The request, as some services repeat it: under a name that says so, or under one that does not. */
function echoOf({ body, directives: { echo } }: SandboxTask): Record_ {
	const { image_urls, reference_images } = body;
	const sent = image_urls ?? reference_images ?? [];
	if (echo === 'none') return {};
	const echoes = {
		input: { input: { images: sent } },
		sources: { sources: sent },
		images: { images: sent, input: { image_urls: sent } },
	};
	return echoes[echo];
}

function failedFields({ fail, failMessage, failAs }: Directives): Record_ {
	const code = fail === undefined || fail === '' ? 'generation_failed' : fail;
	const message =
		failMessage ?? (code === 'content_policy_violation' ? wordsFor(422).message : `The generation failed with ${code}`);
	const shapes: Record<FailureShape, Record_> = {
		error_object: { error: { code, message } },
		error_string: { error: message },
		message: { message },
		fail_reason: { fail_reason: message },
	};
	return shapes[failAs];
}

function seconds(ms: number): number {
	return Math.floor(ms / 1_000);
}
