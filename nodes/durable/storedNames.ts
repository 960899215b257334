/** The hidden operations of our nodes, in the sub-workflows (`subWorkflow.ts`). They are saved with sleeping executions. */
export const STEPS = {
	keepWaiting: 'durableKeepWaiting',
	noteAddress: 'durableNoteAddress',
	pollTasks: 'durablePollTasks',
	results: {
		stopWorkflow: 'durableHandOutOrStop',
		continueRegularOutput: 'durableHandOut',
		continueErrorOutput: 'durableHandOutToErrors',
	},
} as const;

/** The node that submits and polls: its memory is read when it has died. */
export const POLL_TASKS = 'Poll Tasks';

/** The node that puts out the address by which the execution is woken, right before it sleeps. */
export const NOTE_ADDRESS = 'Note Address';
