import { decideAgain, decideYourself, thenTryAgain, wordOf } from '../recovery';
import type { CatalogueEntry, NamedRun } from '../catalogueEntry';
import type { CreatedThing } from '../things';

interface Creation extends NamedRun {
	thing: CreatedThing;
	/** The time of the request; of one that is only in the purchase log, of its last row. Unix milliseconds. */
	atMs?: number;
}

/** Creating something once. */
export const CREATING = {
	alreadyRunning: {
		kind: 'badInput',
		message: ({ execution }: { execution: string }) =>
			`This node is already running with the same requests, in execution ${execution}`,
		advice: ({ execution }: { execution: string }) =>
			`Nothing was sent now. The results come in execution ${execution}. To buy the same again, run this node when it has finished.`,
		created: 'nothing',
	},
	answerMayCome: {
		kind: 'badInput',
		code: 'already_running',
		message: ({ execution }: { execution: string }) =>
			`Execution ${execution} has sent the same request, and its answer may still come`,
		advice: () => 'Nothing was sent now: it would be bought twice. Run this node again in 3 minutes.',
		created: 'nothing',
	},
	outcomeUnknown: {
		kind: 'outcomeUnknown',
		message: ({ thing }: Creation) => `The service may or may not have accepted this ${wordOf(thing)}`,
		advice: (doubt: Creation & { what: string }, situation) =>
			`${doubt.what}. ${decideYourself(doubt.thing, doubt, situation)}`,
		created: 'maybe',
	},
	outcomeStillUnknown: {
		kind: 'outcomeUnknown',
		message: ({ thing }: Creation) =>
			`The service may or may not have accepted this ${wordOf(thing)} in an earlier try`,
		advice: (doubt: Creation & { what?: string }, situation) =>
			[doubt.what, decideYourself(doubt.thing, doubt, situation)].filter(Boolean).join(' '),
		created: 'maybe',
	},
	createdFromOtherRequest: {
		kind: 'outcomeUnknown',
		message: ({ thing, id }: Creation & { id: string }) =>
			`This item already has a${/^a/i.test(wordOf(thing)) ? 'n' : ''} ${wordOf(thing)}${id && ` (${id})`}, but its prompt or settings have changed since`,
		advice: (doubt: Creation, situation) =>
			`n8n was restarted before it could save that. Nothing was submitted now. ${decideAgain(doubt.thing, doubt, situation)}`,
		created: 'maybe',
	},
	submissionNotRecorded: {
		kind: 'notSubmitted',
		message: 'This item was not submitted, because n8n could not record it first',
		advice: ({ words }: { words: string }, situation) =>
			`Without that record, a crash could lead to a second purchase. The reason: ${words}. Check n8n's database and its data tables.${thenTryAgain(situation)}`,
		created: 'nothing',
	},
	submittedByOtherRetry: {
		kind: 'notSubmitted',
		message: ({ execution }: { execution: string }) =>
			`This item was not submitted, because execution ${execution} goes on with this run`,
		advice: ({ execution }: { execution: string }, situation) =>
			// In a batch, the words about the others say to retry.
			`Execution ${execution} goes on in its place, as a later retry or in the background, and submits what is left. Nothing more is bought here. Wait until it has ended, and look for the result there.${situation.others ? '' : ' If it has none, retry once more.'}`,
		created: 'nothing',
	},
	submissionStopped: {
		kind: 'notSubmitted',
		code: 'not_submitted',
		message: ({ why = 'the execution was stopped' }: { why?: string }) => `This item was not submitted, because ${why}`,
		advice:
			'Nothing was bought for this item. Run the workflow again with this item only: other items would be bought again.',
		created: 'nothing',
	},
	notSubmittedAlone: {
		kind: 'notSubmitted',
		code: 'not_submitted',
		message: ({ time }: { time: string }) =>
			`This item was not submitted: n8n runs a single node for ${time} at most, and they were over`,
		advice: 'Nothing was bought for this item. Use the node in a workflow, or run it with this item only.',
		created: 'nothing',
	},
	notSubmitted: {
		kind: 'notSubmitted',
		message: 'This item was not submitted',
		advice: ({ because, scope }: { because: string; scope?: string }, situation) =>
			`Nothing more was submitted${scope === undefined ? '' : ` for ${scope}`} because of another item: ${because}. Solve that first.${thenTryAgain(situation)}`,
		created: 'nothing',
	},
} satisfies Record<string, CatalogueEntry>;
