import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folder = mkdtempSync(join(tmpdir(), 'gateway-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** The path of a file that is not there yet, in a folder that is removed after the tests. */
export const temporaryFile = (name: string) => join(folder, name);
