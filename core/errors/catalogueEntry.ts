import type { GatewayErrorKind } from './kinds';

/** The run that a person names to have a request submitted again (Submit Again for Run). */
export interface NamedRun {
	/** The one that has left the request, or its task, in doubt. Absent where it is not known here: a retry tells. */
	run?: string;
	/** Another one that the form names. */
	otherRun?: string;
}

/** The things that a creating request may have left behind. */
export type Created = 'nothing' | 'maybe';

/** The place where an error has happened, and the ways to continue there: advice depends on it. */
export interface Situation {
	/** The value of the operation; empty in triggers and in the credential's test. */
	operation: string;
	/**
	 * The next step that a person has: retry the execution that it has ended, which n8n offers in the Executions list; run the
	 * item again that it has become, because the execution goes on; or let the agent call its tool again.
	 */
	recovery: 'retry' | 'runAgain' | 'callAgain';
	/** The execution, if another workflow has called it: a retry of that workflow would begin a new one, and buy again. */
	subExecution?: string;
	/** Other items of the run that a retry concerns, too. */
	others?: number;
	/** The expression that gives the ID of the task at the output that gets the item. */
	taskIdAt?: string;
	/** The advice for the reason that the service's own words give. */
	serviceAdvice?: string;
}

/**
 * One reason of the catalogue. Its texts are made of what is known when it happens; each names the data that it needs, and
 * only puts it into words: in an order that another version of the package has stored, some of it may be missing.
 */
export interface CatalogueEntry extends FormEntry {
	/**
	 * Decides what follows from it (`kinds.ts`). Where a task has failed for this reason, its error gives the advice of the reason only if
	 * that is `permanent` or of the kind `balance`: of all others, the task may go well next time.
	 */
	kind: GatewayErrorKind;
	/** The same request would meet the same end, whatever is done outside the form. */
	permanent?: true;
	/** Everything else that is asked for with the same scope, such as the model, would meet the same end, too. */
	ofScope?: true;
	/** The service's words come before the advice: why it happened is read first. */
	serviceFirst?: true;
}

/** A mistake in a form, of the kind `badInput`. */
export interface FormEntry {
	/** The public code, where it is not the name of the entry; of a mistake in a form, where it is not `invalid_input`. */
	code?: string;
	/** Says what happened, as a past fact. */
	message: string | ((data: never) => string);
	/** Says how to continue, which depends on the situation. */
	advice: string | ((data: never, situation: Situation) => string);
	/**
	 * Decides over the status, where the service gives this reason for a creating request in the contract's own words. For
	 * a mistake in a form, which says by itself that nothing was sent: it is found after others may have been.
	 */
	created?: Created;
}

/** A field of the form, by its label. */
export interface Field {
	label: string;
}

/** A value as it is shown: see `show`. */
export interface FieldValue extends Field {
	value: string;
}
