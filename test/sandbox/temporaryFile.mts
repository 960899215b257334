import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The path of a file that is not there yet. */
export const temporaryFile = (name: string) => join(mkdtempSync(join(tmpdir(), 'gateway-')), name);
