import { gatewayError } from '../../core/errors';
import type { JsonObject } from '../../core/json';
import { MAX_REQUEST_URLS, type OrderWait } from '../../core/orders/order';
import { urlsOfRequest } from '../../core/records/locateResult';
import type { FieldReader, NumberField } from '../form/fieldReader';
import { onTimeoutOption, pollIntervalOption, surviveRestartsOption } from '../form/options';
import type { Item } from './item';
import type { Run } from './run';

/**
 * The default timeout of a wait in n8n's database: it costs nothing, and services usually keep a result for about as
 * long.
 */
const DURABLE_TIMEOUT_MINUTES = 1440;

/** The same timeout option, for an item that is waited for in n8n's database. */
export function durable(timeoutOption: NumberField): NumberField {
	return { ...timeoutOption, default: DURABLE_TIMEOUT_MINUTES };
}

/** The options of one item that say how to wait for it. */
export function readWaitOptions(options: FieldReader, timeoutOption: NumberField): OrderWait {
	const isFixed = options.value(pollIntervalOption) !== undefined;
	return {
		plan: isFixed ? { kind: 'fixed', intervalMs: options.number(pollIntervalOption) * 1000 } : { kind: 'automatic' },
		timeoutMs: options.number(timeoutOption) * 60_000,
		onTimeout: options.choice(onTimeoutOption),
	};
}

/**
 * Throws where an item cannot be waited for in another execution.
 */
export function assertCanBeDeferred({ context }: Item, { limits, background }: Run, body: JsonObject): void {
	const choice = background ? 'Start a Workflow' : surviveRestartsOption.displayName;
	const count = context.getInputData().length;
	// Each of its executions has a limit of its own.
	if (background?.eachItem && count > limits.concurrency)
		throw gatewayError('tooManyItems', { count, max: limits.concurrency });
	const urls = urlsOfRequest(body).size;
	if (urls > MAX_REQUEST_URLS) throw gatewayError('tooManyUrls', { count: urls, max: MAX_REQUEST_URLS, choice });
}
