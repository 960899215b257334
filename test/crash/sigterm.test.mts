/** An orderly end of n8n, as of an update or a restart of its container, at every moment of an execution. On schedule: `npm run test:crash -- sigterm`. */
import { testMatrix } from './support/matrix.mts';

testMatrix('n8n', 'SIGTERM');
