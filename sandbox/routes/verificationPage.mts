import type { FastifyInstance } from 'fastify';
import { textAnswer } from '../http/answer.mts';
import { page } from '../http/page.mts';
import { send } from '../http/pipeline.mts';
import type { Verification } from '../state/avatars.mts';
import type { World } from '../state/world.mts';

/** Not shown in the contract; a callback carries one of them as `resultCode`. */
export const RESULT_CODES = { pass: '10000', fail: '20001' } as const;

const PATH = '/h5/real-person';

/** The link for the end user (contract section 2.4). */
export function verificationLink({ session }: Verification, apiUrl: string): string {
	return `${apiUrl}${PATH}/${session}`;
}

/**
 * The page that the person sees in the browser, without a key, with a button to pass and one to fail. Either decides
 * the verification and leads to the callback URL (contract sections 4.6 and 6).
 */
export function addVerificationPage(api: FastifyInstance, world: World): void {
	const find = (session: string): Verification | undefined =>
		[...world.avatars.verifications.values()].find((verification) => verification.session === session);

	api.get<{ Params: { session: string } }>(`${PATH}/:session`, ({ params }, reply) => {
		const verification = find(params.session);
		if (!verification) return send(reply, page(404, 'Unknown link', 'This verification link does not exist.'));
		if (verification.outcome !== undefined) return send(reply, page(200, 'Done', 'This verification is already done.'));
		if (world.avatars.isExpired(verification)) return send(reply, expiredPage());
		return send(
			reply,
			page(
				200,
				'Real-person verification',
				'The sandbox has no camera. Choose the result of the check.',
				buttons(params.session),
			),
		);
	});

	api.post<{ Params: { session: string; outcome: string } }>(`${PATH}/:session/:outcome`, ({ params }, reply) => {
		const verification = find(params.session);
		const outcome = params.outcome === 'pass' || params.outcome === 'fail' ? params.outcome : undefined;
		if (!verification || !outcome)
			return send(reply, page(404, 'Unknown link', 'This verification link does not exist.'));
		if (verification.outcome === undefined && world.avatars.isExpired(verification)) return send(reply, expiredPage());
		world.avatars.decide(verification, outcome);
		const location = callbackLocation(verification, world.settings.naiveCallback);
		if (location === undefined) return send(reply, page(200, 'Done', 'You can close this page.'));
		// 303: the browser goes on with GET.
		return send(reply, textAnswer('', 303, { location }));
	});
}

/**
 * The callback URL with `resultCode` and `vendorToken`. A proper service keeps the query that is
 * there; a naive one appends a second `?`.
 */
function callbackLocation(verification: Verification, naiveByDefault: boolean): string | undefined {
	const { callbackUrl, outcome, vendorToken, directives } = verification;
	if (callbackUrl === undefined || outcome === undefined) return undefined;
	const added = new URLSearchParams({ resultCode: RESULT_CODES[outcome], vendorToken }).toString();
	if (directives.naiveCallback ?? naiveByDefault) return `${callbackUrl}?${added}`;
	const [beforeHash = '', hash] = callbackUrl.split('#', 2);
	const separator = beforeHash.includes('?') ? '&' : '?';
	return `${beforeHash}${separator}${added}${hash === undefined ? '' : `#${hash}`}`;
}

function buttons(session: string): string {
	const button = (outcome: 'pass' | 'fail', label: string): string =>
		`<form method="post" action="${PATH}/${encodeURIComponent(session)}/${outcome}"><button id="${outcome}" class="${outcome}">${label}</button></form>`;
	return `<div class="row">${button('pass', 'Pass')}${button('fail', 'Fail')}</div>`;
}

function expiredPage() {
	return page(410, 'Link expired', 'This link was valid for 120 seconds. Ask for a new one.');
}
