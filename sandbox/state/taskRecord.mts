import type { Directives, FailureShape } from '../faults/directives.mts';
import { imageFile } from '../files/imageFile.mts';
import { wordsFor } from '../http/refusal.mts';
import { resultFields } from './resultShapes.mts';
import { statusWord } from './statusWord.mts';
import type { SandboxTask } from './tasks.mts';

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

/** The answer to a status read at this moment. `filesUrl` is the base of the result-file host. */
export async function statusRecord(task: SandboxTask, filesUrl: string): Promise<Record_> {
	const { phase, progress } = task.state();
	const record: Record_ = {
		...idsOf(task, phase === 'completed' || phase === 'failed'),
		status: statusWord(phase, task.directives),
		...(progress === undefined ? {} : { progress }),
		created_at: seconds(task.acceptedAt),
		metadata: {},
		...(phase === 'completed' ? await completedFields(task, filesUrl) : {}),
		...(phase === 'failed' ? failedFields(task.directives) : {}),
		...(phase === 'in_progress' && task.directives.preview
			? { url: `${filesUrl}/thumbnails/${encodeURIComponent(task.id)}.png` }
			: {}),
	};
	return task.directives.wrapped ? { success: true, data: record } : record;
}

/** The URLs of the result files; file number `index` from 0. */
function resultUrls(task: SandboxTask, filesUrl: string): string[] {
	const extension = task.kind === 'image' ? 'png' : 'mp4';
	const { megabytes } = task.directives;
	return Array.from({ length: task.output.files }, (_, index) => {
		const name = megabytes === undefined ? `${index}.${extension}` : `${index}-${megabytes}MB.${extension}`;
		return `${filesUrl}/results/${encodeURIComponent(task.id)}/${name}`;
	});
}

/** The bytes of one image of the task: its own colours, the pixel size that was asked for, the words of the prompt. */
export function taskImage(task: SandboxTask, index: number): Promise<Buffer> {
	const { width, height } = task.output;
	const prompt = String(task.effective.prompt);
	const words = prompt.replace(/\[\[sandbox\b[^\]]*\]\]/g, '').trim();
	return imageFile(width, height, `${prompt}#${index}`, index === 0 ? words : `${words} (${index + 1})`);
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

async function completedFields(task: SandboxTask, filesUrl: string): Promise<Record_> {
	const format = task.effective.response_format ?? 'url';
	const shape = task.directives.result ?? (format === 'url' ? 'result_data' : 'b64_json');
	const files: string[] = [];
	if (shape === 'b64_json') {
		for (let index = 0; index < task.output.files; index += 1) {
			files.push((await taskImage(task, index)).toString('base64'));
		}
	} else {
		files.push(...resultUrls(task, filesUrl));
	}
	const completedAt = seconds(task.endsAt);
	return {
		completed_at: completedAt,
		expires_at: completedAt + Math.floor(task.directives.expiresMs / 1_000),
		...echoOf(task),
		...BESIDE[task.directives.beside],
		...resultFields(shape, task.kind, files, {
			place: shape === 'none' || shape === 'b64_json' ? 'none' : task.directives.thumbnail,
			url: `${filesUrl}/thumbnails/${encodeURIComponent(task.id)}.png`,
		}),
	};
}

/** The request, as some services repeat it: under a name that says so, or under one that does not. */
function echoOf({ body, directives: { echo } }: SandboxTask): Record_ {
	const { image_urls, reference_images } = body;
	const sent = image_urls ?? reference_images ?? [];
	if (echo === 'none') return {};
	return echo === 'input' ? { input: { images: sent } } : { sources: sent };
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
