import type { IExecuteFunctions, INode } from 'n8n-workflow';
import { gatewayError, type GatewayError, type GatewayErrorDetails } from '../../core/errors';
import { REASONS, entryOf, type DataOf, type Reason } from '../../core/errors/catalogue';
import { CONNECTION } from '../../core/errors/reasons/connection';
import { CREATING } from '../../core/errors/reasons/creating';
import { PURCHASES } from '../../core/errors/reasons/purchases';
import { RESULTS } from '../../core/errors/reasons/results';
import { TASKS } from '../../core/errors/reasons/tasks';
import type { Order } from '../../core/orders/order';
import { accept, endBadly, endWell, makeOrder } from '../../core/orders/states';
import { toNodeOutput } from '../../nodes/durable/toNodeOutput';
import { toNodeError } from '../../nodes/errors/toNodeError';
import { summarizeAccepted } from '../../nodes/run/batchSummary';
import { IN_ITEMS_ONLY } from '../../tools/docs/costs.mts';

/** Five lines of n8n's error panel, as it is at first: more is not read. Lists of IDs, URLs and records are not counted. */
const MAX_LENGTH = 300;

/** Reasons with longer texts, and why. */
const LONGER: Partial<Record<Reason, string>> = {
	outcomeUnknown: 'there are two ways, and the wrong one is paid twice',
	createdFromOtherRequest: 'there are two ways, and the wrong one is paid twice',
	outcomeStillUnknown: 'after a crash, there are two places to look at before anybody pays again',
	purchaseKeyUnclear: 'the same',
	noResultUrl: 'the result may be in the record, or with the service',
	packageBug: 'it says how to report it',
};

/** Reasons that may end one of several tasks while the others go on. Mistakes in a form are found before. */
const AMONG_OTHERS = { ...CONNECTION, ...CREATING, ...PURCHASES, ...TASKS, ...RESULTS, balanceTooLow: {} };

const node: INode = {
	...{ id: '1', name: 'Generate', type: 'n8n-nodes-generation-gateway.videoGeneration', typeVersion: 1 },
	...{ position: [0, 0], parameters: {} },
};

/** Facts of a usual length, by their names. */
const FACTS: Record<string, unknown> = {
	...{ id: 'vid_0123456789abcdef', thing: 'task', what: 'No answer came in time', words: 'The database is locked' },
	...{ atMs: Date.UTC(2026, 0, 31, 14, 5), time: '2026-01-31T14:05:00.000Z', status: 'failed', label: 'Image 2' },
	...{
		megabytes: 1,
		megabytesWithFiles: 4,
		values: '15,000',
		count: 120,
		max: 100,
		model: 'beta-v3',
		avatarKind: 'private',
	},
	...{ urls: '', record: '', trouble: undefined, more: undefined, enter: undefined, advice: 'Remove the last image.' },
	...{ takers: 'alpha-video-1-5-pro, beta-v3-omni and delta-2.6-flash', scope: undefined, which: '' },
};
const facts = new Proxy({}, { get: (_, name) => (name in FACTS ? FACTS[String(name)] : 'beta-v3') });

function errorOf(reason: Reason, details: GatewayErrorDetails = {}): GatewayError {
	return gatewayError(reason, facts as DataOf<Reason>, details);
}

/** A service that explains itself at length. */
const LONG_ANSWER: GatewayErrorDetails = {
	serviceMessage: 'The prompt was refused by our content policy, which you find on our pages. '.repeat(5).trim(),
	serviceCode: 'content_policy_violation',
	httpStatus: 400,
};

/** An order of a run, as it is when another one ends it. */
function orderOf(item: number, as: 'accepted' | 'planned'): Order {
	const order = makeOrder({
		...{ item, thing: 'task', kind: 'video', then: 'poll' },
		request: { body: {}, hash: '', submitAgain: false },
	} as never);
	if (as === 'accepted') accept(order, { taskId: `vid_${item}`, elapsedMs: 0 }, 1);
	return order;
}

const withoutLists = (description?: string | null) =>
	(description ?? '').replace(/ ?((Other (tasks|IDs)|Result URLs|The record):|IDs: see Error details).*/, '');

const PANELS: Record<string, (error: GatewayError) => string> = {
	'of a run with one item': (error) =>
		withoutLists(toNodeError(error, { node, itemIndex: 0, operation: 'generate' }).description),
	'of a batch with other tasks': (error) => withoutLists(batchPanel(error)),
	'of a batch with other tasks and unknown outcomes': (error) => withoutLists(batchPanel(error, 2)),
	'of an item that goes on': (error) =>
		withoutLists(toNodeError(error, { node, itemIndex: 0, operation: 'generate', isItem: true }).description),
	'of Survive Restarts': (error) => withoutLists(keptPanel(error)),
};

/**
 * The panel of a batch with two other tasks, which one item ends.
 *
 * @param unclear the number of items of unknown outcome
 */
function batchPanel(error: GatewayError, unclear = 0): string {
	const orders = [orderOf(1, 'accepted'), orderOf(2, 'accepted'), orderOf(3, 'planned')];
	for (let item = 4; item < 4 + unclear; item++) {
		const order = orderOf(item, 'planned');
		endBadly(order, errorOf('outcomeUnknown'));
		orders.push(order);
	}
	const summary = summarizeAccepted(orders, [], error, { operation: 'generate', items: 4 + unclear });
	return toNodeError(error, { node, itemIndex: 0, operation: 'generate' }, summary).description ?? '';
}

/** The panel when all have finished in n8n's database, and one of them not well. */
function keptPanel(error: GatewayError): string {
	const [failed, ...others] = [0, 1, 2].map((item) => orderOf(item, 'accepted'));
	endBadly(failed as Order, error);
	for (const order of others) endWell(order, { json: {} });
	try {
		toNodeOutput({ getNode: () => node } as IExecuteFunctions, [failed as Order, ...others], 'stopWorkflow', '18');
	} catch (thrown) {
		return (thrown as { description: string }).description;
	}
	throw new Error('it was thrown nowhere');
}

const all = Object.keys(REASONS).filter((reason) => !IN_ITEMS_ONLY.has(reason));

test.each([
	{ panel: 'of a run with one item', reasons: all },
	{ panel: 'of a batch with other tasks', reasons: all.filter((reason) => reason in AMONG_OTHERS) },
	{ panel: 'of an item that goes on', reasons: Object.keys(REASONS) },
	{
		panel: 'of Survive Restarts',
		reasons: Object.keys(AMONG_OTHERS).filter((reason) => reason !== 'resultNotPassedOn'),
	},
])('the panel $panel has at most five lines, whatever has happened', ({ panel, reasons }) => {
	const texts = (reasons as Reason[]).map((reason) => ({ reason, text: PANELS[panel]?.(errorOf(reason)) ?? '' }));
	expect(texts.filter(({ text }) => text !== '').length).toBeGreaterThan(40);
	const long = texts.filter(({ reason, text }) => text.length > MAX_LENGTH && LONGER[reason] === undefined);
	expect(long.map(({ reason, text }) => `${reason} (${text.length}): ${text}`)).toEqual([]);
});

test.each(Object.keys(PANELS))('long words of the service leave the panel %s at five lines', (panel) => {
	const reasons = (Object.keys(AMONG_OTHERS) as Reason[]).filter(
		(reason) => !IN_ITEMS_ONLY.has(reason) && reason !== 'resultNotPassedOn',
	);
	const texts = reasons.map((reason) => ({ reason, text: PANELS[panel]?.(errorOf(reason, LONG_ANSWER)) ?? '' }));
	const causes = texts.filter(({ reason }) => entryOf(reason)?.serviceFirst);
	expect(causes).toHaveLength(8);
	for (const { text } of causes) expect(text).toMatch(/^The service says: "The prompt was refused by our content/);
	const long = texts.filter(({ reason, text }) => text.length > MAX_LENGTH && LONGER[reason] === undefined);
	expect(long.map(({ reason, text }) => `${reason} (${text.length}): ${text}`)).toEqual([]);
});

/** Reasons whose panel names a retry without the others, and why. */
const WITHOUT_OTHERS: Partial<Record<Reason, string>> = {
	answerTooLarge: 'a retry reads the same answer again',
};

test('the panel of a batch says once what a retry does with the other tasks', () => {
	const reasons = Object.keys(AMONG_OTHERS).filter((reason) => !IN_ITEMS_ONLY.has(reason)) as Reason[];
	const panels = reasons.map((reason) => ({ reason, text: batchPanel(errorOf(reason)) }));
	const others = panels.filter(({ text }) => text.match(/the 2 other(s| tasks)\b/g)?.length !== 1);
	expect(others.map(({ reason }) => reason)).toEqual(Object.keys(WITHOUT_OTHERS));
});

test('the panel of a batch in which another retry submits an item says once to retry', () => {
	const [batch, alone] = ['of a batch with other tasks', 'of a run with one item'].map((panel) =>
		PANELS[panel]?.(errorOf('submittedByOtherRetry')),
	);
	expect(batch?.match(/retry/gi)).toHaveLength(1);
	expect(alone).toMatch(/look for the result there\. If it has none, retry once more\.$/);
});

test('where a change of the form helps, the panel names the retry that takes it', () => {
	const [one, later] = ['of a run with one item', 'of an item that goes on'].map((panel) =>
		PANELS[panel]?.(errorOf('noFreePlace')),
	);
	expect(one).toMatch(/If you raise Timeout first, choose Retry with currently saved workflow\.$/);
	expect(later).toMatch(/Run only this item again later\.$/);
});
