import { fastify, type FastifyInstance } from 'fastify';
import type { RequestLog } from '../state/requestLog.mts';
import { refusalAnswer, send } from './pipeline.mts';
import { Refusal } from './refusal.mts';

/** Room for a body with an encoded file, so that the contract's own rule refuses it and not a size limit. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;

/** A bare server: lenient about bodies (the pipeline judges them) and ready to close at once. */
export function createServer(log: RequestLog, now: () => number): FastifyInstance {
	const server = fastify({
		bodyLimit: MAX_BODY_BYTES,
		forceCloseConnections: true,
		routerOptions: { maxParamLength: 1_000 },
	});
	server.removeAllContentTypeParsers();
	// Text that is no JSON stays text: the pipeline then answers as the service would.
	server.addContentTypeParser('*', { parseAs: 'string' }, (_request, text, done) => {
		done(null, parseLeniently(text.toString()));
	});
	server.setNotFoundHandler((request, reply) => {
		log.add({
			at: now(),
			method: request.method,
			path: request.url,
			headers: { ...request.headers },
			status: 404,
		});
		return send(reply, refusalAnswer(new Refusal(404, `Invalid URL (${request.method} ${request.url})`, 'not_found')));
	});
	server.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) => {
		const reason =
			error.statusCode === undefined ? error : new Refusal(error.statusCode, error.message, 'invalid_request');
		return send(reply, refusalAnswer(reason));
	});
	return server;
}

function parseLeniently(text: string): unknown {
	if (text.trim() === '') return undefined;
	try {
		return JSON.parse(text);
	} catch {
		return text;
	}
}
