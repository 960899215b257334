/** kill -9, or a power cut, at every moment of an execution. */
import { testMatrix } from './support/matrix.mts';

testMatrix('n8n', 'SIGKILL');
