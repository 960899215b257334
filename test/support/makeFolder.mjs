/** One folder for all files that a run of Jest writes. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export default () => {
	process.env.TEST_RUN_FOLDER = mkdtempSync(join(tmpdir(), 'n8n-test-'));
};
