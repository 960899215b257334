import type { INodeProperties } from 'n8n-workflow';
import type { WaitOptions } from '../../core/tasks/waitForTask';
import { realClock } from '../connection/transport';
import type { FieldReader } from '../form/fieldReader';
import { formError } from '../errors/formErrors';
import { onTimeoutOption, pollIntervalOption } from '../form/options';
import { LONGEST_TIMEOUT_MS } from './ticket';

/** Sleeping costs nothing, and a result is usually kept for so long. */
const DURABLE_TIMEOUT_MINUTES = 1440;

/** How one item wants to be waited for. */
export function readWaitOptions(
	options: FieldReader,
	timeoutOption: INodeProperties,
	survives = false,
): Omit<WaitOptions, 'startedAtMs' | 'lifeTable' | 'backlogMs'> {
	const timeoutMs =
		options.number(survives ? { ...timeoutOption, default: DURABLE_TIMEOUT_MINUTES } : timeoutOption) * 60_000;
	if (survives && timeoutMs > LONGEST_TIMEOUT_MS)
		throw formError('timeoutTooLong', { label: timeoutOption.displayName, max: LONGEST_TIMEOUT_MS / 60_000 });
	const isFixed = options.value(pollIntervalOption) !== undefined;
	return {
		plan: isFixed ? { kind: 'fixed', intervalMs: options.number(pollIntervalOption) * 1000 } : { kind: 'automatic' },
		timeoutMs,
		onTimeout: options.choice(onTimeoutOption),
		clock: realClock,
	};
}
