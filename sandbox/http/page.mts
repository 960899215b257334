import { textAnswer, type Answer } from './answer.mts';

/** A page of the sandbox, for people. All texts are HTML already. */
export function page(status: number, title: string, text: string, extra = ''): Answer {
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
main:has(article) { max-width: 60rem; }
h1 { font-size: 1.25rem; margin: 0 0 .5rem; }
h2 { font-size: 1rem; margin: 1.5rem 0 .25rem; }
p { margin: 0; color: var(--soft); }
pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; font-size: .85rem; }
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
