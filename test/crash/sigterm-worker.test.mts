/** An orderly end of a worker in queue mode, at every moment of an execution. On schedule: `npm run test:crash -- sigterm`. */
import { testMatrix } from './support/matrix.mts';

testMatrix('worker', 'SIGTERM');
