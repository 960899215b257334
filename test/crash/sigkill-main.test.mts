/** kill -9 of n8n's main process in queue mode, at every moment of an execution. */
import { testMatrix } from './support/matrix.mts';

testMatrix('main', 'SIGKILL');
