/** Runs a node from its form, and reads the output panel. */
import type { Page } from 'playwright-core';
import { linesOf } from './form.mts';

const output = (page: Page) => page.getByTestId('output-panel');

/** A click on "Execute step". Waits until there is a result or a message in the output panel. */
export async function executeStep(page: Page): Promise<void> {
	await page.getByTestId('node-execute-button').click();
	const ended = output(page).locator(
		'[data-test-id="node-run-status-success"], [data-test-id="node-run-status-danger"]',
	);
	await ended.first().waitFor();
}

/** The message of a node that ended badly, and what it says to do. */
export async function messageOf(page: Page): Promise<{ message: string; description: string }> {
	return {
		message: await output(page).getByTestId('node-error-message').innerText(),
		description: await output(page).getByTestId('node-error-description').innerText(),
	};
}

/** The lines that the text below the message takes in the panel. */
export async function linesOfAdvice(page: Page): Promise<number> {
	return await linesOf(output(page).getByTestId('node-error-description'));
}

/** A click on "View" of a binary field. */
export async function viewFile(page: Page): Promise<void> {
	await output(page).getByTestId('ndv-view-binary-data').first().click();
}

/** The address at which a published trigger is called, as its open node shows it. */
export async function shownAddress(page: Page): Promise<string> {
	const address = page.locator('.webhook-url:visible, [class*="webhook-url"]:visible').first();
	const heading = page
		.getByTestId('ndv')
		.getByText(/^\s*(Webhook URLs|Chat URL)\s*$/)
		.first();
	await address.or(heading).first().waitFor();
	if (!(await address.isVisible())) await heading.click(); // n8n shows it folded for some triggers
	await address.waitFor();
	const production = page.getByTestId('radio-button-production');
	if (await production.isVisible()) await production.click();
	return (await address.innerText()).trim();
}

/** As a message says: Retry in the list of executions, with the variant that n8n offers first. Returns what the menu offers. */
export async function retryLastExecution(page: Page): Promise<string[]> {
	await page.getByTestId('radio-button-executions').click();
	await page.getByTestId('execution-preview-retry-button').click();
	const offered = page.getByRole('menuitem').filter({ hasText: /^\s*Retry with/ });
	await offered.first().waitFor();
	const names = await offered.allInnerTexts();
	await offered.first().click();
	return names;
}

/** A click on "Execute workflow". Waits until n8n says that it has ended well. */
export async function executeWorkflow(page: Page): Promise<void> {
	await page.getByTestId('execute-workflow-button').last().click();
	await page.getByText('Workflow executed successfully').first().waitFor();
}

/** Publishes the workflow, with the dialogs of n8n. */
export async function publish(page: Page): Promise<void> {
	await page.getByTestId('workflow-open-publish-modal-button').click();
	await page.getByTestId('workflow-publish-button').click();
	await page.getByRole('button', { name: 'Got it' }).click();
}
