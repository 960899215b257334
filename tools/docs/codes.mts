/** The tables of docs/reference/errors.md, from the catalogue: what each code means, costs, and asks for. */
import { REASONS, toCode, type Reason } from '../../core/errors/catalogue.ts';
import { AVATARS } from '../../core/errors/reasons/avatars.ts';
import { PURCHASES } from '../../core/errors/reasons/purchases.ts';
import { CODE_TEXTS } from './codeTexts.mts';

/** Reasons whose cost is not that of their kind. */
const KNOWN: Partial<Record<Reason, string>> = {
	contentDeclined: 'free',
	taskDeclined: 'again',
	createdFromOtherRequest: 'paid',
	createdTaskNotFound: 'paid',
	createdTaskRefused: 'paid',
	reusedTaskExpired: 'paid',
	// An item without an ID was not bought.
	waitingNotStarted: 'free or paid',
	// It may come after the task was accepted.
	packageBug: 'free or paid',
	tokenKeyGone: 'free',
	// Of an asset or a verification.
	timedOut: 'free or paid',
	timedOutAlone: 'free or paid',
};

/** Kinds of what happens to a task that is bought. */
const PAID = ['download', 'noResult', 'notShown', 'stopped', 'taskTimedOut'];

/** The cost as one word, which the page explains. As far as the gateway's documentation shows, only tasks cost something. */
function costOf(reason: Reason): string {
	const { kind = 'badInput', created } = REASONS[reason];
	const known = KNOWN[reason];
	if (known !== undefined) return known;
	if (created === 'nothing') return 'free';
	if (kind === 'outcomeUnknown') return 'unknown';
	if (reason in AVATARS || reason in PURCHASES) return 'free';
	if (kind === 'taskFailed') return 'again';
	return PAID.includes(kind) ? 'paid' : 'free';
}

/** The messages with … for what is known only when it happens: where it depends on a switch, both. */
function messagesOf(reason: Reason): string[] {
	const { message } = REASONS[reason];
	if (typeof message === 'string') return [shown(message)];
	return [SAME_KEY, {}].map((switches) => {
		const facts = new Proxy(switches, { get: (_, name) => (name in SAME_KEY ? Reflect.get(switches, name) : '…') });
		return shown((message as (facts: object) => string)(facts));
	});
}

const SAME_KEY = { sameKey: true };

function shown(text: string): string {
	return text
		.replace(/…(?: ?…)+/g, '…')
		.replaceAll('|', '\\|')
		.replace(/\{\{.*?\}\}/g, '`$&`');
}

/** Reasons by their public code, in the order of the catalogue. */
function reasonsByCode(): Map<string, Reason[]> {
	const codes = new Map<string, Reason[]>();
	for (const reason of Object.keys(REASONS) as Reason[])
		codes.set(toCode(reason), [...(codes.get(toCode(reason)) ?? []), reason]);
	return codes;
}

/** More messages than these are about many things: the cause says them all in one. */
const MOST_MESSAGES = 3;

function listed(reasons: Reason[]): string {
	const messages = [...new Set(reasons.flatMap(messagesOf))];
	return messages.length > MOST_MESSAGES ? '' : `<br>${messages.join(' · ')}`;
}

/** The codes, which have texts of their own in `CODE_TEXTS`: a guard compares both. */
export const allCodes = (): string[] => [...reasonsByCode().keys()];

/** The codes that an item or a run can end with: one line each. */
export function describeCodes(): string {
	const rows = [...reasonsByCode()].map(([code, reasons]) => {
		const [cause = '', step = ''] = CODE_TEXTS[code] ?? [];
		const costs = [...new Set(reasons.map(costOf))].join(' or ');
		return `| <a id="${code}"></a>\`${code}\`${listed(reasons)} | ${costs} | ${[cause, step].filter(Boolean).join(' ')} |`;
	});
	return ['| Code and message | Cost | Why, and what to do |', '|---|---|---|', ...rows].join('\n');
}
