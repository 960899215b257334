/**
 * A small stand-in for the service whose video endpoints n8n's Gemini node calls. It is no part of the sandbox, which
 * speaks the contract only. A prompt says how long its task takes, in the words of the sandbox: `duration=12s`.
 */
import type { AddressInfo } from 'node:net';
import fastify from 'fastify';

/** Too small to matter for the time. */
const video = Buffer.alloc(2_000);

const generating = ':predictLongRunning';

export type StandIn = Awaited<ReturnType<typeof startStandIn>>;

export async function startStandIn() {
	let requests = 0;
	/** Of each task, in ms since 1970. The ID of a task is its place. */
	let endsAtMs: number[] = [];

	const server = fastify();
	server.addHook('onRequest', async () => void requests++);
	server.post<{ Params: { call: string }; Body: { instances: Array<{ prompt: string }> } }>(
		'/v1beta/models/:call',
		async ({ params: { call }, body }, reply) => {
			if (!call.endsWith(generating)) return await reply.code(404).send();
			const seconds = Number(/duration=(\d+)s/.exec(body.instances[0]?.prompt ?? '')?.[1]);
			const id = endsAtMs.push(Date.now() + seconds * 1000) - 1;
			return { name: `models/${call.slice(0, -generating.length)}/operations/${id}` };
		},
	);
	server.get<{ Params: { model: string; id: string } }>(
		'/v1beta/models/:model/operations/:id',
		async ({ params: { model, id } }) => {
			const name = `models/${model}/operations/${id}`;
			if (Date.now() < (endsAtMs[Number(id)] ?? Infinity)) return { name };
			const uri = `${baseUrl()}/v1beta/files/${id}?alt=media`;
			return { name, done: true, response: { generateVideoResponse: { generatedSamples: [{ video: { uri } }] } } };
		},
	);
	server.get('/v1beta/files/:id', async (_request, reply) => reply.type('video/mp4').send(video));
	await server.listen({ host: '127.0.0.1', port: 0 });
	const baseUrl = () => `http://127.0.0.1:${(server.server.address() as AddressInfo).port}`;

	return {
		baseUrl: baseUrl(),
		/** Since the last reset. */
		requests: () => requests,
		reset: () => {
			requests = 0;
			endsAtMs = [];
		},
		close: () => server.close(),
	};
}
