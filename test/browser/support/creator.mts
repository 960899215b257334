/** n8n's node creator: the panel in which people search for nodes. */
import type { Locator, Page } from 'playwright-core';

const creator = (page: Page) => page.getByTestId('node-creator');

/** Opens the panel, if it is not open yet, and types the word. What it finds appears some time later: see `foundNode`. */
export async function searchNodes(page: Page, word: string): Promise<void> {
	if (!(await creator(page).isVisible())) await page.getByTestId('node-creator-plus-button').click();
	const search = page.getByTestId('node-creator-search-bar');
	// What was found before must be gone, or it would be taken for the answer.
	await search.fill('qqqqqqqq');
	await creator(page).getByTestId('node-creator-item-name').first().waitFor({ state: 'detached' });
	await search.fill(word);
}

/** The entry with this name in what was found. */
export function foundNode(page: Page, name: string): Locator {
	return creator(page)
		.getByTestId('item-iterator-item')
		.filter({ has: page.locator(`[data-test-id="node-creator-item-name"]:text-is("${name}")`) });
}

/** Searches, clicks the node, clicks the action, and ends with the node open. */
async function addNodeBySearch(page: Page, word: string, name: string, action: string): Promise<void> {
	await searchNodes(page, word);
	await foundNode(page, name).click();
	await foundNode(page, action).click();
	await page.getByTestId('node-parameters').waitFor();
}

/** A click on the + behind the last node, and then as `addNodeBySearch`. */
export async function addNodeBehind(page: Page, word: string, name: string, action: string): Promise<void> {
	await page.getByTestId('canvas-handle-plus').last().click();
	await creator(page).waitFor();
	await addNodeBySearch(page, word, name, action);
}
