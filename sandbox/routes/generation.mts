import type { FastifyInstance } from 'fastify';
import { jsonAnswer } from '../http/answer.mts';
import { serve, type Subject } from '../http/pipeline.mts';
import { Refusal, wordsFor } from '../http/refusal.mts';
import { readImageRequest } from '../rules/image/index.mts';
import { readVideoRequest } from '../rules/video/index.mts';
import type { Body } from '../rules/fields.mts';
import type { LinkCheck } from '../rules/links.mts';
import type { Directives } from '../faults/directives.mts';
import type { Accepted, TaskKind } from '../state/tasks.mts';
import { createdRecord, statusRecord } from '../state/taskRecord.mts';
import type { World } from '../state/world.mts';

type Reader = (body: Body, check: LinkCheck, directives: Directives) => Accepted;

const READERS: Record<TaskKind, Reader> = {
	image: readImageRequest,
	video: readVideoRequest,
};

/** Contract sections 4.4 and 4.5, and the status reads that the field notes show (section 4.8 does not). */
export function addGenerationRoutes(api: FastifyInstance, world: World): void {
	addKind(api, world, 'image', '/v1/images/generations');
	addKind(api, world, 'video', '/v1/videos/generations');
}

function addKind(api: FastifyInstance, world: World, kind: TaskKind, path: string): void {
	api.post(
		path,
		serve(world, {
			point: 'create',
			handle: ({ body, caller, directives }) => {
				const accepted = READERS[kind](body, world.linkCheck(caller.user.id), directives);
				world.accounts.checkModel(caller, accepted.model);
				refuseTooMany(world, caller.user.id);
				world.accounts.charge(caller, accepted.credits);
				return jsonAnswer(createdRecord(world.tasks.accept(accepted, body, caller.user.id, directives)));
			},
		}),
	);
	api.get(
		`${path}/:id`,
		serve(world, {
			point: 'status',
			subject: ({ id = '' }) => pollSubject(world, id),
			handle: async ({ params: { id = '' }, caller }) => {
				const task = world.tasks.find(id);
				const hidden = task !== undefined && world.now() - task.acceptedAt < task.directives.hiddenMs;
				if (!task || hidden || task.kind !== kind || task.userId !== caller.user.id) {
					const { message, code } = wordsFor(404);
					throw new Refusal(404, message, code);
				}
				return jsonAnswer(await statusRecord(task, world.addresses));
			},
		}),
	);
}

/** 429 while the user runs as many tasks as it can (field notes, Errors). */
function refuseTooMany(world: World, userId: number): void {
	const running = world.tasks.list().filter((task) => task.userId === userId && task.endsAt > world.now());
	if (running.length < world.settings.tasksAtOnce) return;
	throw new Refusal(429, 'Too many tasks at once', wordsFor(429).code, { 'retry-after': '1' });
}

function pollSubject(world: World, id: string): Subject | undefined {
	const directives = world.tasks.find(id)?.directives;
	return directives && { id, directives, answers: directives.poll };
}
