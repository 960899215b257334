/** The tables of docs/reference/errors.md, from the catalogue: what each code means, costs, and asks for. */
import { REASONS, toCode, type Reason } from '../../core/errors/catalogue.ts';
import { AVATARS } from '../../core/errors/reasons/avatars.ts';
import { PURCHASES } from '../../core/errors/reasons/purchases.ts';
import { CODE_TEXTS } from './codeTexts.mts';

/** Reasons about what n8n has stored of an item, which becomes one of the output: no run of Generate ends with them. */
export const IN_ITEMS_ONLY: ReadonlySet<string> = new Set<Reason>([
	'resultNotPassedOn',
	'storedItemUnreadable',
	'storedByOtherVersion',
	'waitingInterrupted',
]);

/** Reasons whose cost is not that of their kind. */
const KNOWN: Partial<Record<Reason, string>> = {
	contentDeclined: 'free',
	taskDeclined: 'again',
	createdFromOtherRequest: 'paid',
	tokenNotCreated: 'unknown',
	tokenKeyGone: 'free',
};

/** The cost as one word, which the page explains. As far as the gateway's documentation shows, only tasks cost something. */
function costOf(reason: Reason): string {
	const { kind = 'badInput', created, retryContinues } = REASONS[reason];
	const known = KNOWN[reason];
	if (known !== undefined) return known;
	if (IN_ITEMS_ONLY.has(reason) || retryContinues) return 'paid';
	if (created === 'nothing') return 'free';
	if (kind === 'outcomeUnknown') return 'unknown';
	if (reason in AVATARS || reason in PURCHASES) return 'free';
	if (kind === 'taskFailed') return 'again';
	return kind === 'download' || kind === 'noResult' || kind === 'stopped' ? 'paid' : 'free';
}

/** The message with … for what is known only when it happens. */
function messageOf(reason: Reason): string {
	const { message } = REASONS[reason];
	const facts = new Proxy({}, { get: () => '…' });
	const text = typeof message === 'string' ? message : (message as (facts: object) => string)(facts);
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

/** Found in the form or the credential, before anything was sent. */
const isOfForm = (reason: Reason) =>
	(REASONS[reason].kind ?? 'badInput') === 'badInput' && REASONS[reason].created === undefined;

const listed = (reasons: Reason[]) => [...new Set(reasons.map(messageOf))].join(' · ');
const anchored = (code: string) => `<a id="${code}"></a>\`${code}\``;

/** The codes that have texts of their own in `CODE_TEXTS`: a guard compares both. */
export const codesOfRuns = (): string[] =>
	[...reasonsByCode()].filter(([, reasons]) => !reasons.every(isOfForm)).map(([code]) => code);

/** The codes that a run can end with: one line each. */
export function describeCodes(): string {
	const codes = reasonsByCode();
	const rows = codesOfRuns().map((code) => {
		const reasons = codes.get(code) ?? [];
		const [cause = '', step = ''] = CODE_TEXTS[code] ?? [];
		const costs = [...new Set(reasons.filter((reason) => !isOfForm(reason)).map(costOf))].join(' or ');
		return `| ${anchored(code)}<br>${listed(reasons)} | ${costs} | ${[cause, step].filter(Boolean).join(' ')} |`;
	});
	return ['| Code and message | Cost | Why, and what to do |', '|---|---|---|', ...rows].join('\n');
}

/** The codes of mistakes in a form, whose messages say themselves what to change. */
export function describeFormCodes(): string {
	const ofForms = [...reasonsByCode()].filter(([, reasons]) => reasons.every(isOfForm));
	return ofForms.map(([code]) => `\`${code}\``).join(', ');
}
