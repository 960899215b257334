/** Works with the form of an open node, by the labels that a person reads. */
import type { Locator, Page } from 'playwright-core';

const canvasNode = (page: Page, name: string) => page.locator(`[data-test-id="canvas-node"][data-node-name="${name}"]`);

const parameters = (page: Page) => page.getByTestId('node-parameters');

/** A double click, as people do. */
export async function openNode(page: Page, name: string): Promise<void> {
	await canvasNode(page, name).dblclick();
	await parameters(page).waitFor();
}

export async function closeNode(page: Page): Promise<void> {
	await page.getByTestId('ndv-close-button').click();
	await parameters(page).waitFor({ state: 'detached' });
}

/** The labels of all fields that can be seen, those of rows and added fields included, from top to bottom. */
export async function visibleFields(page: Page): Promise<string[]> {
	return await parameters(page)
		.locator('[data-test-id="input-label"] label:visible')
		.evaluateAll((labels) => labels.map((label) => label.querySelector('.n8n-text')?.textContent?.trim() ?? ''));
}

/** A field with its label. Of several with the same label the last. */
function fieldOf(page: Page, label: string): Locator {
	return parameters(page)
		.locator('.parameter-item, .multi-parameter')
		.filter({ has: page.locator(`label .n8n-text:text-is("${label}")`) })
		.last();
}

/** The value of the field: the chosen option, or the text. */
export async function valueOf(page: Page, label: string): Promise<string> {
	return await fieldOf(page, label).locator('input, textarea').first().inputValue();
}

/** Over what the field holds, key by key, as people do, and on to the next field. */
export async function typeOver(page: Page, label: string, text: string): Promise<void> {
	await fieldOf(page, label).locator('input').first().click();
	await page.keyboard.press('Control+a');
	await page.keyboard.type(text);
	await page.keyboard.press('Tab');
}

/** True when n8n's warning sign is beside the field, as for one that is required and empty. */
export async function isMarked(page: Page, label: string): Promise<boolean> {
	return await fieldOf(page, label).getByTestId('parameter-issues').isVisible();
}

/** An open list of choices; n8n keeps the closed ones of other fields in the page. */
const openList = (page: Page, entry: string) => page.locator(`li[data-test-id="${entry}"]:visible`);

/** The names without their descriptions. */
async function namesIn(list: Locator): Promise<string[]> {
	await list.first().waitFor();
	return await list.evaluateAll((entries) =>
		entries.map((entry) => (entry.querySelector('.option-headline') ?? entry).textContent?.trim() ?? ''),
	);
}

async function openChoices(page: Page, label: string): Promise<Locator> {
	await fieldOf(page, label).locator('input').first().click();
	return openList(page, 'parameter-input-item');
}

async function closeList(page: Page, list: Locator): Promise<void> {
	await page.keyboard.press('Escape');
	await list.first().waitFor({ state: 'hidden' });
}

/** The options of a dropdown. */
export async function offeredOptions(page: Page, label: string): Promise<string[]> {
	const list = await openChoices(page, label);
	const names = await namesIn(list);
	await closeList(page, list);
	return names;
}

export async function chooseOption(page: Page, label: string, option: string): Promise<void> {
	const list = await openChoices(page, label);
	const name = page.locator(`.option-headline:text-is("${option}")`).or(page.locator(`span:text-is("${option}")`));
	await list.filter({ has: name }).click();
	await list.first().waitFor({ state: 'hidden' });
	await page.waitForTimeout(500); // the form follows a moment later
}

/** A click on "Add Image" or the like. */
export async function addRow(page: Page, list: string): Promise<void> {
	await fieldOf(page, list).getByTestId('fixed-collection-add').click();
}

/** Key by key: braces at the start make an expression of it, as n8n's editor does. */
export async function typeText(page: Page, label: string, text: string): Promise<void> {
	await fieldOf(page, label).locator('input, textarea, .cm-content').first().click();
	await page.keyboard.type(text);
	await page.keyboard.press('Tab');
	await page.waitForTimeout(1_000); // n8n takes the text over a moment later, and would run the node without it
}

/** The lines that the text of an element takes. */
export async function linesOf(element: Locator): Promise<number> {
	return await element.evaluate((shown) => {
		const range = shown.ownerDocument.createRange();
		range.selectNodeContents(shown);
		return new Set([...range.getClientRects()].map(({ bottom }) => Math.round(bottom / 8))).size;
	});
}

/** The notices of the form, with the lines that each takes. */
export async function noticesOf(page: Page): Promise<Array<{ text: string; lines: number }>> {
	const notices = await parameters(page).locator('[role="alert"]:visible, .notice:visible').all();
	return await Promise.all(
		notices.map(async (notice) => ({ text: await notice.innerText(), lines: await linesOf(notice) })),
	);
}

/** CSS pixels: the whole form, what is seen of it without scrolling, and from its top down to the label "Options". */
export async function heightsOf(page: Page): Promise<{ whole: number; seen: number; toOptions: number }> {
	return await parameters(page).evaluate((form) => {
		const labels = [...form.querySelectorAll('label .n8n-text')];
		const options = labels.find(({ textContent }) => textContent?.trim() === 'Options');
		if (options === undefined) throw new Error('The form has no Options');
		const toOptions = options.getBoundingClientRect().bottom - form.getBoundingClientRect().top + form.scrollTop;
		return { whole: form.scrollHeight, seen: form.clientHeight, toOptions };
	});
}
