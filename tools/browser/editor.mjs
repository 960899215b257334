/** n8n's editor in a browser: logged in, quiet, in one of its themes. */
import { setTimeout as pause } from 'node:timers/promises';
import { owner } from '../n8n/rest.mjs';

/** n8n accepts the login cookie only together with the browser id that it was given for. */
const browserId = 'generation-gateway-browser';
/** The editor is a large program, and the machine may be busy. */
const patienceMs = 120_000;
/** Nodes of another workflow go within this. */
const othersGoneWithinMs = 15_000;
const CANVAS_NODE = '[data-test-id="canvas-node"]';

/** @typedef {'light' | 'dark'} Theme */

/**
 * @param {import('playwright-core').Browser} browser
 * @param {string} url of the editor
 * @param {{ theme?: Theme, width?: number, height?: number }} [options] sizes in CSS pixels
 * @returns {Promise<import('playwright-core').Page>} in a context of its own: `page.context().close()` ends both
 */
export async function newEditorPage(browser, url, { theme = 'light', width = 1600, height = 1000 } = {}) {
	const localStorage = [
		{ name: 'n8n-browserId', value: browserId },
		{ name: 'N8N_THEME', value: theme },
	];
	const context = await browser.newContext({
		viewport: { width, height },
		colorScheme: theme,
		reducedMotion: 'reduce',
		storageState: { cookies: [], origins: [{ origin: url, localStorage }] },
	});
	context.setDefaultTimeout(patienceMs);
	const answer = await context.request.post(`${url}/rest/login`, {
		headers: { 'browser-id': browserId },
		data: { emailOrLdapLoginId: owner.email, password: owner.password },
	});
	if (!answer.ok()) throw new Error(`n8n answered the login with ${answer.status()}`);
	return await context.newPage();
}

/**
 * An n8n that is left while it still loads a workflow has been seen to show nodes of that one in the next: then the page is
 * loaded anew.
 *
 * @param {import('playwright-core').Page} page
 * @param {string} url of the editor
 * @param {string} workflowId
 */
export async function openWorkflow(page, url, workflowId) {
	const path = `/workflow/${workflowId}`;
	const answer = await page.request.get(`${url}/rest/workflows/${workflowId}`, {
		headers: { 'browser-id': browserId },
	});
	const { nodes } = (await answer.json()).data;
	const names = nodes.flatMap((/** @type {{ name: string, type: string }} */ { name, type }) =>
		type === 'n8n-nodes-base.stickyNote' ? [] : [name],
	);
	await openPath(page, url, path);
	const shown = page.locator(CANVAS_NODE);
	if (!(await isEachShown(shown, names))) await page.goto(`${url}${path}`);
	await shown.first().waitFor();
}

/**
 * @param {import('playwright-core').Locator} shown
 * @param {string[]} names
 */
async function isEachShown(shown, names) {
	for (const beganAt = Date.now(); Date.now() < beganAt + patienceMs; await pause(100)) {
		const seen = await shown.evaluateAll((all) => all.map((each) => String(each.getAttribute('data-node-name'))));
		if (names.every((name) => seen.includes(name))) return true;
		// On a busy machine it takes long until there are any, and to load the editor anew takes longer.
		if (Date.now() > beganAt + othersGoneWithinMs && seen.some((name) => !names.includes(name))) return false;
	}
	return false;
}

/**
 * Within the editor where it is open already: to load it anew takes four seconds of processor time.
 *
 * @param {import('playwright-core').Page} page
 * @param {string} url of the editor
 * @param {string} path
 */
export async function openPath(page, url, path) {
	// Its workflow is left for a page without one, so that nothing of it is taken for a part of the next.
	const isThere =
		page.url().startsWith(url) && (await goWithin(page, '/home/credentials')) && (await goWithin(page, path));
	if (!isThere) await page.goto(`${url}${path}`);
}

/**
 * False where the editor does not go there at once: it asks what is to become of changes, or shows a dialog or a message
 * that would be taken for a part of the next workflow.
 *
 * @param {import('playwright-core').Page} page
 * @param {string} path
 */
async function goWithin(page, path) {
	return await page.locator('#app').evaluate(async (/** @type {any} */ app, to) => {
		const { ownerDocument: shown, __vue_app__: vue } = app;
		const router = vue?.config.globalProperties.$router;
		if (router === undefined) return false;
		for (const close of shown.querySelectorAll('.el-notification__closeBtn')) close.click();
		const isGone = (/** @type {string} */ what) =>
			[...shown.querySelectorAll(what)].every((each) => each.getClientRects().length === 0);
		const isClear = () => isGone('.el-notification, [role="dialog"]');
		const aMoment = () => new Promise((resolve) => setTimeout(resolve, 100));
		for (let waits = 0; waits < 20 && !isClear(); waits++) await aMoment();
		if (!isClear()) return false;
		let isOver = false;
		const end = () => (isOver = true);
		router.push(to).then(end, end);
		for (let waits = 0; waits < 300 && !isOver && isGone('[role="dialog"]'); waits++) await aMoment();
		return isOver && shown.location.pathname === to;
	}, path);
}
