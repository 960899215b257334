/**
 * A small stand-in for the video endpoints that n8n's OpenAI node calls. It is no part of the sandbox, which speaks the
 * contract only. A prompt says how long its task takes, in the words of the sandbox: `duration=12s`.
 */
import type { AddressInfo } from 'node:net';
import fastify from 'fastify';

/** Too small to matter for the time. */
const video = Buffer.alloc(2_000);

export type StandIn = Awaited<ReturnType<typeof startStandIn>>;

export async function startStandIn() {
	let requests = 0;
	/** Of each task, in ms since 1970. The ID of a task is its place. */
	let endsAt: number[] = [];
	const record = (id: number) => {
		const status = Date.now() >= (endsAt[id] ?? Infinity) ? 'completed' : 'in_progress';
		return { id: String(id), object: 'video', status };
	};

	const server = fastify();
	server.addHook('onRequest', async () => void requests++);
	server.addContentTypeParser(
		'multipart/form-data',
		{ parseAs: 'string' },
		async (_request: unknown, body: string) => body,
	);
	server.post<{ Body: string }>('/v1/videos', async ({ body }) => {
		const seconds = Number(/duration=(\d+)s/.exec(body)?.[1]);
		return record(endsAt.push(Date.now() + seconds * 1000) - 1);
	});
	server.get<{ Params: { id: string } }>('/v1/videos/:id', async ({ params }) => record(Number(params.id)));
	server.get('/v1/videos/:id/content', async (_request, reply) => reply.type('video/mp4').send(video));
	await server.listen({ host: '127.0.0.1', port: 0 });

	return {
		baseUrl: `http://127.0.0.1:${(server.server.address() as AddressInfo).port}/v1`,
		/** Since the last reset. */
		requests: () => requests,
		reset: () => {
			requests = 0;
			endsAt = [];
		},
		close: () => server.close(),
	};
}
