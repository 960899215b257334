/** The database of an n8n that has just been set up, for tests: to make one takes n8n three seconds, each time. */
import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { devDir } from '../paths.mjs';
import { runN8n } from './launch.mjs';

/**
 * @param {import('../install/n8n.mjs').N8nRuntime} runtime
 * @param {string} userFolder of an n8n that has not been started so far
 */
export async function provideDatabase(runtime, userFolder) {
	const folder = join(devDir, 'databases');
	const kept = join(folder, runtime.version);
	if (!existsSync(kept)) {
		mkdirSync(folder, { recursive: true });
		const made = mkdtempSync(join(folder, 'new-'));
		await runN8n({ runtime, userFolder: made }, ['list:workflow']); // any command makes it
		try {
			renameSync(join(made, '.n8n'), kept);
		} catch (error) {
			if (!existsSync(kept)) throw error; // another test file has been first
		}
		rmSync(made, { recursive: true, force: true });
	}
	cpSync(kept, join(userFolder, '.n8n'), { recursive: true });
}
