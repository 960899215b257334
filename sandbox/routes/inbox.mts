import type { FastifyInstance } from 'fastify';
import { jsonAnswer, type Answer } from '../http/answer.mts';
import { page } from '../http/page.mts';
import { send } from '../http/pipeline.mts';
import type { Message, World } from '../state/world.mts';

/** Older ones go. */
const MAX_MESSAGES = 100;
/** The page reloads itself after this time. */
const REFRESH_SECONDS = 2;

/**
 * The world outside, for workflows that send what they have made to an app or a chat: `/inbox/<anything>` accepts every
 * body, and `/inbox` is the page that shows what arrived. No key, not logged, not limited: it is no part of the service.
 */
export function addInbox(api: FastifyInstance, world: World): void {
	api.get('/inbox', (_request, reply) => send(reply, inboxPage(world.inbox)));
	api.post<{ Params: { '*': string } }>('/inbox/*', ({ params, body }, reply) => {
		world.inbox.unshift({ at: world.now(), to: params['*'], body });
		world.inbox.splice(MAX_MESSAGES);
		return send(reply, jsonAnswer({ received: true }));
	});
}

function inboxPage(inbox: Message[]): Answer {
	const text =
		inbox.length === 0
			? 'Nothing has arrived yet. What the example workflows send to an app or a chat appears here.'
			: 'What the workflows have sent, the newest first.';
	const answer = page(200, 'Inbox', text, inbox.map(article).join(''));
	return { ...answer, headers: { ...answer.headers, refresh: String(REFRESH_SECONDS) } };
}

function article({ at, to, body }: Message): string {
	const content = typeof body === 'string' ? body : JSON.stringify(body, null, 2);
	const time = new Date(at).toLocaleTimeString('en-GB');
	return `<article><h2>${time} to ${escaped(to)}</h2><pre>${withLinks(escaped(content ?? ''))}</pre></article>`;
}

function escaped(text: string): string {
	return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}

function withLinks(html: string): string {
	return html.replace(/https?:\/\/[^\s&<]+(?:&#38;[^\s&<]+)*/g, (url) => `<a href="${url}">${url}</a>`);
}
