/** The page in the person's browser after a verification. Nothing of the request is repeated on it. */
export interface Page {
	httpStatus: number;
	title: string;
	text: string;
}

export const PAGES = {
	verified: { httpStatus: 200, title: 'You are verified', text: 'Thank you. You can close this page.' },
	notVerified: {
		httpStatus: 200,
		title: 'Not verified',
		text: 'The verification was not successful. To try again, ask for a new link.',
	},
	received: { httpStatus: 200, title: 'Thank you', text: 'We have received your response. You can close this page.' },
	busy: {
		httpStatus: 200,
		title: 'One moment, please',
		text: 'Many responses are coming in right now. Open this page again in a minute, so that yours is counted, too.',
	},
	incomplete: {
		httpStatus: 400,
		title: 'This link is incomplete',
		text: 'To complete the verification, ask for a new link.',
	},
} satisfies Record<string, Page>;

/** A page in one file, light or dark as the browser prefers. */
export function renderPage({ title, text }: Page): string {
	return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<style>
:root { color-scheme: light dark; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; font: 17px/1.5 system-ui, sans-serif; background: #f4f5f7; color: #1d2330; }
main { max-width: 24rem; margin: 1rem; padding: 2rem; border-radius: 14px; background: #fff; }
h1 { margin: 0 0 .5rem; font-size: 1.3rem; }
p { margin: 0; }
@media (prefers-color-scheme: dark) { body { background: #14171d; color: #eef0f4; } main { background: #1f242d; } }
</style>
</head>
<body><main><h1>${title}</h1><p>${text}</p></main></body>
</html>`;
}
