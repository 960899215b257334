/** An orderly end of a worker in queue mode, at every moment of an execution: with `-- full` only. */
import { test } from 'node:test';
import { isSwitchedOn } from '../../tools/suite.mjs';
import { testMatrix } from './support/matrix.mts';

if (isSwitchedOn('full')) testMatrix('worker', 'SIGTERM');
else test('SIGTERM of a worker at any moment loses and repeats nothing', { skip: 'npm run test:crash -- full' });
