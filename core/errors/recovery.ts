/** The way on from an error: a retry of the execution, the item run again, or an agent that calls its tool again. */
import type { NamedRun, Situation } from './catalogueEntry';
import { thingOf, type CreatedThing } from './things';

export const wordOf = (thing: CreatedThing): string => thingOf(thing)?.word ?? thing;

export const upperFirst = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
const lowerFirst = (text: string) => `${text.charAt(0).toLowerCase()}${text.slice(1)}`;

/** True of every retry, because a run knows what it has bought. */
const CONTINUES = ': tasks that exist continue, nothing is paid twice';
const CREATES_ONCE = ': nothing is created twice';

/** The promise of a retry, by the operation of the node. */
const PROMISES: Partial<Record<string, string>> = {
	...{ generate: CONTINUES, getResult: CONTINUES },
	...{ create: CREATES_ONCE, upload: CREATES_ONCE },
};

const promiseOf = ({ operation }: Situation) => PROMISES[operation] ?? '';

/** A retry of the workflow that called this one would begin a new execution here, and buy again. */
const thisExecution = ({ subExecution }: Situation) =>
	subExecution === undefined ? 'this execution' : `execution ${subExecution} of this workflow`;

/** The one step after which it is tried again, as the clause of a sentence. What exists by then continues. */
function tryAgain(situation: Situation, when = '', promise = promiseOf(situation)): string {
	if (situation.operation === '') return `try again${when}`;
	if (situation.recovery === 'callAgain') return `call this tool again${when}`;
	return situation.recovery === 'runAgain'
		? `run the workflow again${when}, with this item only`
		: `retry ${thisExecution(situation)} in the Executions list${when}${promise}`;
}

/** The same after a change of the form: n8n's other retry takes it. */
function tryWithChanges(situation: Situation, promise = promiseOf(situation)): string {
	if (situation.recovery !== 'retry') return tryAgain(situation);
	const of = situation.subExecution === undefined ? '' : ` for ${thisExecution(situation)}`;
	return `save, and in the Executions list choose Retry with currently saved workflow${of}${promise}`;
}

/** For requests that may go well later. */
export const tryLater = (situation: Situation) => `${upperFirst(tryAgain(situation, ' later'))}.`;

/** After a change outside of the form, which the advice names first. */
export const thenTryAgain = (situation: Situation) => ` Then ${tryAgain(situation)}.`;

/** After a change of the form. */
export const thenTryWithChanges = (situation: Situation) => ` Then ${tryWithChanges(situation)}.`;

/** For a task that has failed. */
export const createAgain = (situation: Situation) =>
	situation.operation === 'generate'
		? `To try again, ${tryAgain(situation, '', '')}: that creates a new task, and you pay again.${situation.others ? ' Tasks that exist continue.' : ''}`
		: 'To try again, create a new task with Generate.';

/** The steps that cost money when the node that has met this is run again. n8n shows the first two beside the error. */
export function buysAgain({ operation, recovery, subExecution }: Situation): string {
	if (operation !== 'generate') return '';
	if (recovery === 'callAgain') return ' Calling Generate again creates a new task, and you pay again.';
	if (recovery === 'runAgain') return ' Running this node again creates a new task, and you pay again.';
	return subExecution === undefined
		? ' Execute step and Debug in editor buy again.'
		: ' Execute step, Debug in editor, and a retry of the workflow that called this one buy again.';
}

/**
 * The step to the result of a task that exists: a retry of the execution that it has ended, and Get Result behind the output
 * that has its item. An agent has the tools that a person gave it, and its user can use the ID.
 *
 * @param more what else is entered in Get Result, e.g. "and URL Only as Result"
 */
export function continueTask(situation: Situation, more = ''): string {
	const { recovery, taskIdAt } = situation;
	const entered = more && ` ${more}`;
	const free =
		taskIdAt === undefined
			? `in a new workflow, with this task ID${entered}`
			: `at this output, with ${taskIdAt} as Task ID${entered}`;
	const step = {
		retry: `${upperFirst(tryAgain(situation))}.`,
		runAgain: `Use Get Result ${free}: that costs nothing.`,
		callAgain: `Call a tool for Get Result with this task ID${entered}. If you have none, tell the user the ID.`,
	}[recovery];
	return `${step}${buysAgain(situation)}`;
}

/** The same after a change that the advice names first. */
export const thenContinueTask = (situation: Situation) => `Then ${lowerFirst(continueTask(situation))}`;

/**
 * The same with another option: of this node for a retry, or of Get Result.
 *
 * @param value what is chosen or entered, e.g. "URL Only"
 */
export const continueWith = (situation: Situation, option: string, value: string): string =>
	situation.recovery === 'retry'
		? retryAfter(`Set ${option} to ${value}`, situation)
		: continueTask(situation, `and ${value} as ${option}`);

/** The retry that continues the task after a change of the form. */
export const retryAfter = (change: string, situation: Situation): string =>
	`${change}, ${tryWithChanges(situation)}.${buysAgain(situation)}`;

/** For an asset that exists, and is not active yet. */
export function continueAsset(situation: Situation): string {
	if (situation.recovery === 'retry') return `${upperFirst(tryAgain(situation))}.`;
	const step = situation.recovery === 'callAgain' ? 'Call a tool for Asset → Get' : 'Use Asset → Get';
	return `${step} with this asset ID.${situation.operation === 'upload' ? ' Running this node again uploads the file again.' : ''}`;
}

/** For a request whose outcome is unknown: only the account tells, and its list shows when each thing was created. */
export function decideYourself(thing: CreatedThing, doubt: { atMs?: number } & NamedRun, situation: Situation): string {
	const { atMs } = doubt;
	const time = typeof atMs === 'number' ? `around ${new Date(atMs).toISOString().slice(11, 16)} UTC` : 'then';
	const word = wordOf(thing);
	// Those that are known are named below the advice.
	const which = situation.others
		? `${word}s created ${time} with other IDs`
		: `${/^a/i.test(word) ? 'an' : 'a'} ${word} created ${time}`;
	return `Look in the ${word} list of your account for ${which}. If there is none, ${submitAgain(doubt, situation)}`;
}

/** For a thing of another request, of which a crashed try has left the ID: only the user knows if this one is wanted, too. */
export const decideAgain = (thing: CreatedThing, doubt: NamedRun, situation: Situation) =>
	`${thingOf(thing)?.useOfEarlier ?? ''} If you want another one of this request, ${submitAgain(doubt, situation)}`;

function submitAgain(doubt: NamedRun, situation: Situation): string {
	if (situation.recovery !== 'retry') return `${tryAgain(situation)}.`;
	// Of several items, the retry would end with the same one again.
	const otherwise = situation.others ? ', else set On Error to Continue. Then' : ',';
	return `${enterRun(doubt)}${otherwise} ${tryWithChanges(situation)}.${ofOtherRun(doubt)}${buysAgain(situation)}`;
}

/** Without its name, a retry is refused with an error that has it. */
export const enterRun = ({ run = 'the run that a retry names' }: NamedRun) => `enter ${run} as Submit Again for Run`;

/** The reason why the run in the form was of no use. */
export const ofOtherRun = ({ otherRun }: NamedRun) =>
	otherRun === undefined ? '' : ` Submit Again for Run has ${otherRun}, which is another run.`;

/** For a task that exists, and may never give a result: in a retry, Submit Again for Run buys another one. */
export const buyAgain = (named: NamedRun, situation: Situation, aim = 'To buy it again') =>
	situation.operation !== 'generate' || situation.recovery === 'callAgain'
		? ''
		: situation.recovery === 'retry'
			? ` ${aim}, ${enterRun(named)}, ${tryWithChanges(situation, '')}.${ofOtherRun(named)}`
			: ` ${aim}, ${tryAgain(situation)}.`;

/** Another look at such a task is free. In a batch, there is no room for the other way. */
export const lookAgain = (named: NamedRun, situation: Situation) =>
	situation.recovery !== 'retry' || situation.others
		? continueTask(situation)
		: `${upperFirst(tryAgain(situation))}.${buyAgain(named, situation)}`;

/** The same request is refused again, and a retry does not read what the nodes before would give now. */
export const readsStoredInput = ({ recovery, others }: Situation) =>
	recovery === 'retry' && !others
		? ' A retry reads the stored input, so make the change in this node, or in a new execution.'
		: '';

/** The way to the other items of a run, where the advice on one of them names no retry. */
export const retryRest = {
	asItIs: (situation: Situation) => `Then ${tryAgain(situation)}.`,
	withChanges: (situation: Situation) => `Then ${tryWithChanges(situation)}.`,
	/** Without On Error, a retry ends with this item again, whatever the nodes before give now. */
	pastThisItem: (situation: Situation) =>
		`To get the rest, set On Error to Continue, ${tryWithChanges(situation, ': it reads the stored input, and tasks that exist continue')}.`,
};

/** True for a text that names a retry. */
export const namesRetry = (text: string) => text.includes('in the Executions list');

/** An agent calls a tool again that has refused, unless it reads that this leads nowhere. */
export const stopCalling = ({ recovery }: Situation, why: string) =>
	recovery === 'callAgain'
		? `Stop: do not call this tool again. ${why}, so every further call will be refused, too. `
		: '';
