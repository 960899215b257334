/** The memory of this process. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** The MB of values that something still refers to. */
export function heapMb(): number {
	setFlagsFromString('--expose-gc');
	(runInNewContext('gc') as () => void)();
	return process.memoryUsage().heapUsed / 2 ** 20;
}

/** The same, with buffers. */
export function memoryMb(): number {
	return heapMb() + process.memoryUsage().external / 2 ** 20;
}
