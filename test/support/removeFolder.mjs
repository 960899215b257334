import { rmSync } from 'node:fs';

export default () => rmSync(process.env.TEST_RUN_FOLDER ?? '', { recursive: true, force: true });
