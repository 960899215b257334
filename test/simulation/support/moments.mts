/** Moments at which a kill or a stop is worst. A case may ask for one, and each that is hit is counted. */
import type { Origin } from './executions.mts';
import type { N8n } from './n8n.mts';
import type { Post } from './service.mts';
import type { Owner } from './time.mts';

/** `origin`: one of those that run in the process. */
type IsNow = (n8n: N8n, origin: Origin, process: Owner) => boolean;

export const MOMENTS = {
	'while n8n saves': ({ isSaving }) => isSaving,
	'between POST and answer': (n8n, origin, process) => isSending(n8n, origin, process),
	'between row and look': ({ story }, _, process) => story.phases.get(process) === 'rows',
	'between look and mark': ({ story }, _, process) => story.phases.get(process) === 'looked',
	'while parking': ({ subs }, { executions }) =>
		executions.some((each) => each.status === 'running' && subs.isIn(each)),
	'between the lease of a poller and its start': (n8n, origin, process) => n8n.subs.isClaiming(origin, process),
	'before a poller is woken': (n8n, origin, process) => n8n.subs.isUnwoken(origin, process),
	'between POST and answer of a poller': (n8n, origin, process) =>
		n8n.subs.isPolling(origin, process) && isSending(n8n, origin, process),
	'between row and look of a poller': (n8n, origin, process) =>
		n8n.subs.isPolling(origin, process) && n8n.story.phases.get(process) === 'rows',
	'between look and mark of a poller': (n8n, origin, process) =>
		n8n.subs.isPolling(origin, process) && n8n.story.phases.get(process) === 'looked',
	'while orders of a poller wait': (n8n, origin, process) =>
		n8n.subs.isPolling(origin, process) &&
		!isSending(n8n, origin, process) &&
		postsOf(n8n, origin).length < origin.names.flat().length,
} satisfies Record<string, IsNow>;

export type Moment = keyof typeof MOMENTS;

const ALL = Object.entries(MOMENTS) as Array<[Moment, IsNow]>;

/** The moments that it is, of the executions that run in the process, or of one of them. */
export function momentsOf(
	n8n: N8n,
	process: Owner,
	origins = n8n.origins.filter((origin) => isIn(n8n, origin, process)),
): Moment[] {
	return ALL.flatMap(([moment, isNow]) => (origins.some((origin) => isNow(n8n, origin, process)) ? [moment] : []));
}

export function isMoment(moment: Moment, n8n: N8n, process: Owner): boolean {
	return n8n.origins.some((origin) => isIn(n8n, origin, process) && MOMENTS[moment](n8n, origin, process));
}

/** It runs there, or is woken from there. */
const isIn = (n8n: N8n, origin: Origin, process: Owner) =>
	n8n.runsIn(origin, process) || n8n.subs.isUnwoken(origin, process);

function isSending(n8n: N8n, origin: Origin, process: Owner): boolean {
	return postsOf(n8n, origin).some(({ isUnderWay, owner }) => isUnderWay && owner === process);
}

function postsOf({ service }: N8n, { family }: Origin): Post[] {
	return service.posts.filter((post) => post.name.startsWith(`${family}-`));
}
