/** kill -9 of a worker in queue mode, at every moment of an execution. */
import { testMatrix } from './support/matrix.mts';

testMatrix('worker', 'SIGKILL');
