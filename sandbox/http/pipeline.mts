import { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { answerAt, type FaultAction, type PlannedAnswer } from '../faults/answers.mts';
import type { Directives } from '../faults/directives.mts';
import { directivesOf } from '../faults/readDirectives.mts';
import type { FaultPoint } from '../faults/queue.mts';
import { isObject, type Body } from '../rules/fields.mts';
import type { Caller } from '../state/accounts.mts';
import type { LoggedRequest } from '../state/requestLog.mts';
import type { World } from '../state/world.mts';
import { jsonAnswer, type Answer } from './answer.mts';
import { answersItself, distort, replacement } from './applyFault.mts';
import { errorBody, Refusal, type ErrorShape } from './refusal.mts';

/**
 * The way of every request: log, rate limit, faults before, authentication, the handler, faults after,
 * send. A handler only knows the contract; everything that goes wrong on purpose is here.
 */

export interface Call {
	request: FastifyRequest;
	body: Body;
	params: Record<string, string>;
	query: Record<string, string | undefined>;
	/** The caller; routes without authentication get the first user. */
	caller: Caller;
	/** Of the request's own body. */
	directives: Directives;
	/** The request's entry in the log, for what only the handler can read. */
	logged: LoggedRequest;
}

/** The task or asset of a request, if that has directives of its own. */
export interface Subject {
	id: string;
	directives: Directives;
	/** The answers of those directives that belong to this kind of request. */
	answers: PlannedAnswer[];
}

export interface Route {
	point: FaultPoint;
	withoutKey?: boolean;
	subject?: (params: Record<string, string>) => Subject | undefined;
	handle: (call: Call) => Answer | Promise<Answer>;
}

/** Marks a request that was answered by breaking the connection. */
const NOTHING = Symbol('no answer');

export function serve(world: World, route: Route) {
	return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
		const logged = logRequest(world, route, request);
		const answer = await answerRequest(world, route, request, logged);
		if (answer === NOTHING) {
			logged.status = 0;
			return breakConnection(reply);
		}
		logged.status = answer.status;
		return send(reply, answer);
	};
}

async function answerRequest(
	world: World,
	route: Route,
	request: FastifyRequest,
	logged: LoggedRequest,
): Promise<Answer | typeof NOTHING> {
	let shape: ErrorShape | undefined;
	try {
		if (route.point !== 'file') world.rateLimit.check(world.now());
		const params = textValues(request.params);
		const body = isObject(request.body) ? request.body : {};
		const subject = route.subject?.(params);
		const directives = directivesOf(body);
		shape = (subject?.directives ?? directives).errorShape;
		const fault = nextFault(world, route, request, body, subject, directives);
		const before = fault?.when === 'after' ? undefined : fault;
		if (before?.delayMs) await world.settings.sleep(before.delayMs);
		const mirrorUrl = world.addresses.mirror + request.url;
		if (before && answersItself(before)) {
			return before.reset ? NOTHING : replacement(before, shape, world.now(), mirrorUrl);
		}
		const caller = route.withoutKey ? anyone(world) : world.accounts.authenticate(request.headers.authorization);
		if (request.body !== undefined && !isObject(request.body))
			throw new Refusal(400, 'The body must be a JSON object', 'invalid_request');
		const answer = await route.handle({
			request,
			body,
			params,
			query: textValues(request.query),
			caller,
			directives,
			logged,
		});
		if (!fault) return answer;
		if (fault.when === 'after') {
			if (fault.delayMs) await world.settings.sleep(fault.delayMs);
			if (fault.reset) return NOTHING;
			if (answersItself(fault)) return replacement(fault, shape, world.now(), mirrorUrl);
		}
		return distort(answer, fault);
	} catch (reason) {
		return refusalAnswer(reason, shape);
	}
}

/** Faults of the control endpoint come first, then the directives, used up in order. */
function nextFault(
	world: World,
	{ point }: Route,
	request: FastifyRequest,
	body: Body,
	subject: Subject | undefined,
	directives: Directives,
): FaultAction | undefined {
	const prompt = typeof body.prompt === 'string' ? body.prompt : undefined;
	const queued = world.faults.take({
		point,
		path: request.url,
		...(subject ? { taskId: subject.id } : {}),
		...(prompt === undefined ? {} : { prompt }),
	});
	if (queued) return queued;
	const sequence = subject?.answers ?? directives.create;
	if (sequence.length === 0) return undefined;
	const scope = `${point} ${subject?.id ?? JSON.stringify(body)} ${subject ? request.url : ''}`;
	const use = world.directiveUses.get(scope) ?? 0;
	world.directiveUses.set(scope, use + 1);
	const action = answerAt(sequence, use);
	// Under the mirror's name the file is there: a redirect for good must not turn in a circle.
	return action?.redirect && request.headers.host === new URL(world.addresses.mirror).host ? undefined : action;
}

/** Any error as the service would word it; what is no refusal is a fault of the sandbox itself. */
export function refusalAnswer(reason: unknown, shape?: ErrorShape): Answer {
	if (reason instanceof Refusal) {
		const { status, message, code, headers } = reason;
		return jsonAnswer(errorBody(status, message, code, shape), status, headers);
	}
	const problem = reason instanceof Error ? (reason.stack ?? reason.message) : String(reason);
	return jsonAnswer(errorBody(500, `The sandbox itself has failed: ${problem}`, 'internal_error'), 500);
}

export function send(reply: FastifyReply, answer: Answer): FastifyReply {
	const { body, headers } = answer;
	// fastify gives bytes a content type when they have none, a stream it leaves alone.
	const typeless = headers['content-type'] === undefined && Buffer.isBuffer(body);
	return reply
		.code(answer.status)
		.headers({ ...headers, 'content-length': String(answer.length) })
		.send(typeless ? Readable.from([body]) : body);
}

/** A TCP reset on a real connection; for an injected request an error without an answer. */
function breakConnection(reply: FastifyReply): FastifyReply {
	reply.hijack();
	const { socket } = reply.raw;
	if (socket instanceof Socket) socket.resetAndDestroy();
	else reply.raw.destroy(Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' }));
	return reply;
}

function logRequest(world: World, { point }: Route, request: FastifyRequest): LoggedRequest {
	const log = point === 'file' ? world.filesLog : world.apiLog;
	return log.add({
		at: world.now(),
		method: request.method,
		path: request.url,
		headers: { ...request.headers },
		...(request.body === undefined ? {} : { body: request.body }),
	});
}

function anyone(world: World): Caller {
	const [user] = world.accounts.users;
	if (!user) throw new Error('a sandbox needs at least one API key');
	return { user };
}

function textValues(values: unknown): Record<string, string> {
	if (!isObject(values)) return {};
	return Object.fromEntries(
		Object.entries(values).map(([name, value]) => [name, String(Array.isArray(value) ? value[0] : value)]),
	);
}
