/** An orderly end of n8n's main process in queue mode, at every moment of an execution. On schedule: `npm run test:crash -- sigterm`. */
import { testMatrix } from './support/matrix.mts';

testMatrix('main', 'SIGTERM');
