import type { WaitOptions } from '../../core/tasks/waitForTask';
import { realClock } from '../connection/transport';
import type { FieldReader, NumberField } from '../form/fieldReader';
import { onTimeoutOption, pollIntervalOption } from '../form/options';

/** Sleeping costs nothing, and a result is usually kept for so long. */
const DURABLE_TIMEOUT_MINUTES = 1440;

/** How one item wants to be waited for. */
export function readWaitOptions(
	options: FieldReader,
	timeoutOption: NumberField,
	survives = false,
): Omit<WaitOptions, 'startedAtMs' | 'lifeTable' | 'backlogMs'> {
	const timeoutMs =
		options.number(survives ? { ...timeoutOption, default: DURABLE_TIMEOUT_MINUTES } : timeoutOption) * 60_000;
	const isFixed = options.value(pollIntervalOption) !== undefined;
	return {
		plan: isFixed ? { kind: 'fixed', intervalMs: options.number(pollIntervalOption) * 1000 } : { kind: 'automatic' },
		timeoutMs,
		onTimeout: options.choice(onTimeoutOption),
		clock: realClock,
	};
}
