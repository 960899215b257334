import { shorten } from '../text';
import type { GatewayError, GatewayErrorDetails } from './index';
import { entryOf, type ErrorReason } from './catalogue';
import { createAgain } from './recovery';
import type { Situation } from './catalogueEntry';

/** Characters of the service's words that a text quotes at most. */
const QUOTE_LENGTH = 500;

/**
 * The text below the message: how to continue, and what the service said.
 *
 * @param quoteLength for less room: so many characters of the service's words, without code and status; 0 for no quotation
 */
export function describe(
	{ kind, details }: GatewayError,
	{ operation = '', recovery = 'retry', ...more }: Partial<Situation> = {},
	quoteLength?: number,
): string {
	const situation = { ...more, operation, recovery };
	const entry = entryOf(details.reason?.name);
	// Reasons that a run meets later say themselves that nothing was bought.
	const said = entry?.created === undefined ? 'Nothing was sent.' : '';
	const service = quoteLength === undefined ? quoteService(kind, details) : quoteWords(details, quoteLength);
	const quote = kind === 'badInput' ? said : service;
	const advice = adviceOn(details, situation);
	return [
		...(entry?.serviceFirst ? [quote, advice] : [advice, quote]),
		...(details.others ?? []).map((other) => `Also: ${other.message}. ${adviceOn(other.details, situation)}`),
	]
		.filter(Boolean)
		.join(' ')
		.trim();
}

function adviceOn({ reason, serviceReason, permanent }: GatewayErrorDetails, situation: Situation): string {
	if (serviceReason === undefined) return adviceOf(reason, situation);
	const mayGoWell = !permanent && situation.recovery !== 'callAgain';
	const parts = [adviceOf(serviceReason, situation), mayGoWell && createAgain(situation)];
	return adviceOf(reason, { ...situation, serviceAdvice: parts.filter(Boolean).join(' ') });
}

/** None for a reason that only another version of the package has, in a stored order. */
function adviceOf(reason: ErrorReason | undefined, situation: Situation): string {
	const { advice = '' } = entryOf(reason?.name) ?? {};
	return typeof advice === 'string' ? advice : advice(reason?.data as never, situation);
}

/**
 * The service's own words: the only place where they may stand.
 *
 * @param length characters of them at most
 */
export function quoteService(
	kind: GatewayError['kind'],
	{ serviceMessage, serviceCode, serviceAnswer, httpStatus }: GatewayErrorDetails,
	length = QUOTE_LENGTH,
): string {
	// The advice has said it; and a file comes from another host.
	const status =
		httpStatus === undefined || kind === 'outcomeUnknown' || kind === 'download' ? '' : ` (HTTP ${httpStatus})`;
	const code = serviceCode === undefined ? '' : `, code ${serviceCode}`;
	if (serviceMessage) return `The service says: "${shorten(serviceMessage, length)}"${code}${status}.`;
	if (serviceCode !== undefined) return `The service returned the code ${serviceCode}${status}.`;
	if (serviceAnswer) return `The answer was: ${shorten(serviceAnswer, length)}${status}.`;
	return status === '' ? '' : `The server answered ${httpStatus}.`;
}

const quoteWords = ({ serviceMessage }: GatewayErrorDetails, length: number) =>
	serviceMessage && length > 0 ? `The service says: "${shorten(serviceMessage, length)}".` : '';
