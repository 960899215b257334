import type { INodeProperties } from 'n8n-workflow';
import type { WaitOptions } from '../../core/tasks/waitForTask';
import { realClock } from '../connection/transport';
import type { FieldReader } from '../form/fieldReader';
import { onTimeoutOption, pollIntervalOption } from '../form/options';

/** How one item wants to be waited for. */
export function readWaitOptions(options: FieldReader, timeoutOption: INodeProperties): Omit<WaitOptions, 'startedAtMs' | 'lifeTable' | 'backlogMs'> {
	const isFixed = options.value(pollIntervalOption) !== undefined;
	return {
		plan: isFixed ? { kind: 'fixed', intervalMs: options.number(pollIntervalOption) * 1000 } : { kind: 'automatic' },
		timeoutMs: options.number(timeoutOption) * 60_000,
		onTimeout: options.choice(onTimeoutOption),
		clock: realClock,
	};
}
