import type { FastifyInstance } from 'fastify';
import { byteStream, slowStream } from '../files/byteStream.mts';
import { imageFile } from '../files/imageFile.mts';
import { sampleFile } from '../files/samples.mts';
import { videoFromImage, videoFromWords } from '../files/videoOf.mts';
import { bytesAnswer, textAnswer, type Answer } from '../http/answer.mts';
import { serve, type Subject } from '../http/pipeline.mts';
import { givenPicture } from '../state/givenPicture.mts';
import { contentPath, filePath, taskImage, wordsOf } from '../state/taskRecord.mts';
import type { SandboxTask } from '../state/tasks.mts';
import type { World } from '../state/world.mts';

/**
 * The result-file host: another port than the API, no key. It refuses what is not there, not yet
 * there, or no longer there (`expires_at`) with the XML that file stores answer.
 */
export function addFileRoutes(files: FastifyInstance, world: World): void {
	const { sleep } = world.settings;
	const open = { point: 'file', withoutKey: true } as const;
	files.get(
		'/results/:taskId/:name',
		serve(world, {
			...open,
			subject: ({ taskId = '' }) => fileSubject(world, taskId),
			handle: async ({ params: { taskId = '', name = '' } }) => {
				const task = world.tasks.find(taskId);
				const index = Number(/^(\d+)(?:-\d+MB)?(?:\.\w+)?$/.exec(name)?.[1] ?? -1);
				if (task?.directives.resultAt === 'bounce') return redirect(world.addresses.api + contentPath(task, index));
				return await resultFile(world, task, index);
			},
		}),
	);
	files.get(
		'/thumbnails/:name',
		serve(world, {
			...open,
			handle: async ({ params: { name = '' } }) =>
				bytesAnswer(await imageFile({ width: 64, height: 64 }, name), { 'content-type': 'image/png' }),
		}),
	);
	files.get(
		'/uploads/:name',
		serve(world, {
			...open,
			handle: ({ params: { name = '' } }) => {
				const upload = world.uploads.get(`/uploads/${name}`);
				return upload
					? bytesAnswer(upload.bytes, { 'content-type': upload.contentType })
					: storeError(404, 'NoSuchKey');
			},
		}),
	);
	files.get(
		'/bytes/:name',
		serve(world, {
			...open,
			handle: ({ params: { name = '' }, query }) => {
				const megabytes = /^(\d+)MB\.\w+$/.exec(name)?.[1];
				if (megabytes === undefined) return storeError(404, 'NoSuchKey');
				const pace = Number(query.bytes_per_second);
				const stream = byteStream(Number(megabytes), () => (pace > 0 ? pace : undefined), sleep);
				return { status: 200, headers: { 'content-type': 'video/mp4' }, ...stream };
			},
		}),
	);
}

/** Result files at the API itself, which wants the key for them, too. Logged and answered as those of the file host. */
export function addContentRoutes(api: FastifyInstance, world: World): void {
	for (const kind of ['images', 'videos']) {
		for (const path of [`/v1/${kind}/:taskId/content`, `/v1/${kind}/:taskId/content/:index`]) {
			api.get(
				path,
				serve(world, {
					point: 'file',
					subject: ({ taskId = '' }) => fileSubject(world, taskId),
					handle: async ({ params: { taskId = '', index = '0' }, caller }) => {
						const task = world.tasks.find(taskId);
						if (task?.userId !== caller.user.id) return storeError(404, 'NoSuchKey');
						const isElsewhere = task.directives.resultAt === 'gateway_redirect';
						if (isElsewhere) return redirect(world.addresses.files + filePath(task, Number(index)));
						return await resultFile(world, task, Number(index));
					},
				}),
			);
		}
	}
}

const redirect = (location: string) => textAnswer('', 302, { location });

async function resultFile(world: World, task: SandboxTask | undefined, index: number): Promise<Answer> {
	if (!task || index < 0 || index >= task.output.files || task.state().phase !== 'completed') {
		return storeError(404, 'NoSuchKey');
	}
	const { directives } = task;
	const { megabytes, bytesPerSecond, expiresMs, contentType } = directives;
	if (world.now() >= task.endsAt + expiresMs) return storeError(403, 'AccessDenied', 'Request has expired');
	const headers = {
		'content-type': contentType ?? (task.kind === 'image' ? 'image/png' : 'video/mp4'),
		...disposition(task, index),
	};
	const { sleep } = world.settings;
	if (megabytes !== undefined)
		return { status: 200, headers, ...byteStream(megabytes, () => directives.bytesPerSecond, sleep) };
	const bytes = await fileBytes(world, task, index);
	const answer = bytesAnswer(bytes, headers);
	return bytesPerSecond === undefined ? answer : { ...answer, body: slowStream(bytes, bytesPerSecond, sleep) };
}

async function fileBytes(world: World, task: SandboxTask, index: number): Promise<Buffer> {
	if (task.directives.fileAs !== undefined) return sampleFile(task.directives.fileAs);
	return task.kind === 'image' ? await taskImage(task, index) : await taskVideo(world, task);
}

/** It starts with the picture that was given, or with the scene of the prompt. */
async function taskVideo(world: World, task: SandboxTask): Promise<Buffer> {
	const { aspectRatio } = task.output;
	const picture = await givenPicture(world, task);
	const made = picture && (await videoFromImage(picture.url, picture.bytes, aspectRatio));
	return made ?? (await videoFromWords(wordsOf(task), aspectRatio));
}

/** By default videos name themselves and images do not, so that both ways are seen. */
function disposition({ kind, directives, id }: SandboxTask, index: number): Record<string, string> {
	if (directives.fileName !== undefined)
		return { 'content-disposition': `attachment; filename="${directives.fileName}"` };
	const plain = `${id.replace(/[^\w-]/g, '_')}-${index}.${kind === 'image' ? 'png' : 'mp4'}`;
	switch (directives.disposition ?? (kind === 'video' ? 'attachment' : 'none')) {
		case 'none':
			return {};
		case 'inline':
			return { 'content-disposition': 'inline' };
		case 'attachment':
			return { 'content-disposition': `attachment; filename="${plain}"` };
		case 'utf8':
			return {
				'content-disposition': `attachment; filename="${plain}"; filename*=UTF-8''${encodeURIComponent(`übung ${plain}`)}`,
			};
	}
}

function storeError(status: number, code: string, message = code): Answer {
	return textAnswer(
		`<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${message}</Message></Error>`,
		status,
		{ 'content-type': 'application/xml' },
	);
}

function fileSubject(world: World, taskId: string): Subject | undefined {
	const directives = world.tasks.find(taskId)?.directives;
	return directives && { id: taskId, directives, answers: directives.file };
}
