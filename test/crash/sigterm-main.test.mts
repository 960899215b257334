/** An orderly end of n8n's main process in queue mode, at every moment of an execution: with `-- full` only. */
import { test } from 'node:test';
import { isSwitchedOn } from '../../tools/suite.mjs';
import { testMatrix } from './support/matrix.mts';

if (isSwitchedOn('full')) testMatrix('main', 'SIGTERM');
else
	test('SIGTERM of the main process at any moment loses and repeats nothing', { skip: 'npm run test:crash -- full' });
