import type { FastifyInstance } from 'fastify';
import { textAnswer } from '../http/answer.mts';
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

function page(status: number, title: string, text: string, extra = '') {
	const html = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>
:root { color-scheme: light dark; --ground: #f4f5f7; --card: #fff; --ink: #1d2330; --soft: #5c6475; }
@media (prefers-color-scheme: dark) { :root { --ground: #14171d; --card: #1f242d; --ink: #eef0f4; --soft: #a3abba; } }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; background: var(--ground); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { background: var(--card); border-radius: 14px; padding: 2rem; margin: 1rem; max-width: 24rem; box-shadow: 0 6px 24px rgb(0 0 0 / 12%); }
h1 { font-size: 1.25rem; margin: 0 0 .5rem; }
p { margin: 0; color: var(--soft); }
.row { display: flex; gap: .75rem; margin-top: 1.5rem; }
form { flex: 1; }
button { width: 100%; padding: .7rem; border: 0; border-radius: 9px; font: inherit; font-weight: 600; color: #fff; cursor: pointer; }
button:focus-visible { outline: 3px solid var(--ink); outline-offset: 2px; }
.pass { background: #18794e; }
.fail { background: #b42318; }
</style>
</head>
<body><main><h1>${title}</h1><p>${text}</p>${extra}</main></body>
</html>
`;
	return textAnswer(html, status, {
		'content-type': 'text/html; charset=utf-8',
		'cache-control': 'no-store',
	});
}
