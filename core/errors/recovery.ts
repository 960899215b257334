import type { CreatedThing, NamedRun, RestOfBatch, Situation } from './entry';

/** The words of people, where they are others than the names of the things. */
const WORDS: Partial<Record<string, string>> = { token: 'API key' };

export const wordOf = (thing: CreatedThing): string => WORDS[thing] ?? thing;

/** The execution that a retry continues. */
const thisExecution = ({ subExecution }: RestOfBatch) =>
	subExecution === undefined ? 'this execution' : `execution ${subExecution} of this workflow`;

const retryExecution = (situation: RestOfBatch) => `retry ${thisExecution(situation)} in the Executions list`;

/** The variant that takes what was changed in the form. */
const retryWithChanges = ({ subExecution }: RestOfBatch) =>
	`save, and in the Executions list choose Retry with currently saved workflow${subExecution === undefined ? '' : ` for execution ${subExecution} of this workflow`}`;

/** The rest of a batch in a retry: what it continues, and what it submits for the first time. Empty where nothing is left. */
function restOfRun(situation: RestOfBatch): string {
	const { operation, others = 0 } = situation;
	const one = others === 1;
	const count = one ? '' : `${others} `;
	const continued =
		operation === 'generate'
			? `the ${count}other ${one ? 'task continues and costs' : 'tasks continue and cost'} nothing`
			: `the ${count}other ${one ? 'request is' : 'requests are'} not sent again`;
	return [others > 0 && continued, unsubmittedOf(situation)].filter(Boolean).join(', and ');
}

function unsubmittedOf({ unsubmitted = 0, unclear = 0 }: RestOfBatch): string {
	const items = (count: number) => (count === 1 ? '1 item' : `${count} items`);
	const submitted = unsubmitted > 0 && `${items(unsubmitted)} ${unsubmitted === 1 ? 'is' : 'are'} submitted`;
	const refused =
		unclear > 0 && `${unsubmitted > 0 ? unclear : items(unclear)} ${unclear === 1 ? 'stays' : 'stay'} unclear`;
	return [submitted, refused].filter(Boolean).join(', and ');
}

/** True where other items are concerned, too. */
const isBatch = ({ others = 0, unclear = 0 }: Situation) => others > 0 || unclear > 0;

const withRest = (situation: Situation, sentence: string, joint: string) =>
	[sentence, restOfRun(situation)].filter(Boolean).join(joint);

/** For a request whose outcome is unknown: only the account tells, and its list shows when each thing was created. */
export const decideYourself = (thing: CreatedThing, doubt: { atMs?: number } & NamedRun, situation: Situation) => {
	const { atMs } = doubt;
	const time = typeof atMs === 'number' ? `${new Date(atMs).toISOString().slice(11, 16)} UTC` : undefined;
	const around = time && `around ${time}`;
	const word = wordOf(thing);
	// A batch has more to say: see FIVE_LINES in `toNodeError.ts`.
	if (situation.recovery === 'retry' && isBatch(situation)) {
		const { unclear = 0 } = situation;
		const those =
			unclear === 0
				? `${word} of ${time ?? 'that time'}`
				: `${word}s of ${around ?? 'that time'} for these ${unclear + 1} items`;
		return submitAgain(`If your account has no ${those}`, thing, doubt, situation);
	}
	const look = `Look in the ${word} list of your account for ${/^a/i.test(word) ? 'an' : 'a'} ${word} created ${around ?? 'then'}.`;
	return submitAgain(`${look} If there is none`, thing, doubt, situation);
};

/** For a thing of another request, of which a crashed try has left the ID: only the user knows if this one is wanted, too. */
export const decideAgain = (thing: CreatedThing, doubt: NamedRun, situation: Situation) =>
	submitAgain(`${USE_OF_EARLIER[thing]} If you want another one of this request`, thing, doubt, situation);

const USE_OF_EARLIER: Record<CreatedThing, string> = {
	task: 'Get Result with this task ID returns it.',
	token: 'It was shown only once, so delete it in your account.',
	verification: 'Verification → Get with this ID returns it.',
	group: 'The avatar group can be used with this ID.',
	asset: 'Asset → Get with this ID returns it.',
};

function submitAgain(condition: string, thing: CreatedThing, doubt: NamedRun, situation: Situation): string {
	if (situation.recovery !== 'retry') return `${condition}, ${tryAgain(situation)}.`;
	const enter = `${condition}, ${enterRun(doubt)}`;
	if (isBatch(situation))
		return `${enter}, else set On Error to Continue. ${upperFirst(withRest({ ...situation, unclear: 0 }, retryWithChanges(situation), ': '))}.${ofOtherRun(doubt)}`;
	return `${enter} in the options, ${retryWithChanges(situation)}.${ofOtherRun(doubt)} Running this node again creates every ${wordOf(thing)} again${thing === 'task' ? ', and you pay again' : ''}.`;
}

/** Without its name, a retry is refused with an error that has it. */
export const enterRun = ({ run = 'the run that the error of a retry names' }: NamedRun) =>
	`enter ${run} as Submit Again for Run`;

/** The reason why the run in the form was of no use. */
export const ofOtherRun = ({ otherRun }: NamedRun) =>
	otherRun === undefined ? '' : ` Submit Again for Run has ${otherRun}, which is another run.`;

/** The way to the results of a batch when the reason of its end names none of its own. */
export const retryRest = (situation: RestOfBatch) => `Then ${retryExecution(situation)}: ${restOfRun(situation)}.`;

/** The same where the retry needs a change of the form, which the advice names first. */
export const retryRestWithChanges = (situation: RestOfBatch) =>
	`Then ${retryWithChanges(situation)}: ${restOfRun(situation)}.`;

/** The same where a retry would end in the same way. */
export const retryRestPastError = (situation: RestOfBatch) =>
	`To get the rest, set On Error to Continue (using error output), ${retryWithChanges(situation)}: ${restOfRun(situation)}.`;

/** An agent calls a tool again that has refused, unless it reads that this leads nowhere. */
export const stopCalling = ({ recovery }: Situation, why: string) =>
	recovery === 'callAgain'
		? `Stop: do not call this tool again. ${why}, so every further call will be refused, too. `
		: '';

const OF_CALLER = ', Debug in editor, or retrying the workflow that called this one';

/** Warns of the steps that cost money when the node that has met this is run again. */
export const buysAgain = ({ operation, recovery, subExecution }: Situation) => {
	if (operation !== 'generate') return '';
	if (recovery === 'callAgain') return ' Calling Generate again creates a new task, and you pay again.';
	// n8n shows Debug in editor beside Retry.
	const more = recovery !== 'retry' ? '' : subExecution === undefined ? ' or Debug in editor' : OF_CALLER;
	return ` Running this node again${more} creates a new task, and you pay again.`;
};

/**
 * A node elsewhere: n8n would run everything before a node in this workflow, and with it what buys. An agent has the tools
 * that somebody gave it, and whoever asks it can use the ID.
 *
 * @param operation what the node does, e.g. Get Result
 * @param more what is entered there, beginning with the ID
 */
export const withNode = ({ recovery }: Situation, operation: string, more: string) =>
	recovery === 'callAgain'
		? `call a tool for ${operation} with ${more}. If you have none, tell the user the ID`
		: `create a new workflow: a trigger, and after it ${operation} with ${more}`;

/** Says that a retry costs nothing: it finds the tasks of the same requests in the ledger. */
function retryIsFree(situation: Situation): string {
	const { operation, others = 0 } = situation;
	if (operation !== 'generate') return 'that costs nothing';
	const more = others === 0 ? '' : others === 1 ? ' and the other one,' : ` and the ${others} others,`;
	const continued = `it continues the task${more} and costs nothing, unless the request changed`;
	return [continued, unsubmittedOf(situation)].filter(Boolean).join('; ');
}

interface Elsewhere {
	aim: string;
	operation: string;
	more: string;
}

const inNewWorkflow = (situation: Situation, { operation, more }: Elsewhere) =>
	`${withNode(situation, operation, more)}.${buysAgain(situation)}`;

/**
 * The step that continues a task that exists: the retry where n8n offers one, because a new node leads to paying again. In
 * a batch it is the only way: a node elsewhere would get one task of many.
 */
function continueWith(situation: Situation, elsewhere: Elsewhere): string {
	if (situation.recovery !== 'retry') return `${elsewhere.aim}, ${inNewWorkflow(situation, elsewhere)}`;
	const warning = (situation.others ?? 0) > 0 ? '' : buysAgain(situation);
	return `${upperFirst(retryExecution(situation))}: ${retryIsFree(situation)}.${warning}`;
}

const RESULT = { aim: 'To get its result', operation: 'Get Result', more: 'this task ID' };

/** For a task that is still running, which a person may also wait for without the execution. */
export const waitOn = (situation: Situation) => {
	if (situation.recovery !== 'retry' || (situation.others ?? 0) > 0) return continueWith(situation, RESULT);
	return `${upperFirst(retryExecution(situation))}: ${retryIsFree(situation)}. If n8n offers no retry, ${inNewWorkflow(situation, RESULT)}`;
};

/** For a task of one item that may never give a result: another look, or another task. */
export const lookAgain = (named: NamedRun, situation: Situation) => {
	const look = `${upperFirst(retryExecution(situation))}: ${situation.operation === 'generate' ? 'it continues the task and costs' : 'that costs'} nothing.`;
	return [look, buyAgain(named, situation)].filter(Boolean).join(' ');
};

/** For a task that exists, and may never give a result: in a retry, Submit Again for Run buys another one. */
export const buyAgain = (named: NamedRun, situation: Situation, aim = 'To buy it again') =>
	situation.operation !== 'generate' || situation.recovery === 'callAgain'
		? ''
		: situation.recovery === 'retry'
			? `${aim}, ${enterRun(named)}, ${retryWithChanges(situation)}.${ofOtherRun(named)}`
			: `${aim}, ${tryAgain(situation)}.`;

const FILE = {
	aim: 'To get only the file',
	operation: 'Get Result',
	more: 'this task ID',
};

export const getFile = (situation: Situation) => continueWith(situation, FILE);

/** The same after a change that the advice names first. */
const thenContinue = (situation: Situation, elsewhere: Elsewhere) =>
	`Then ${situation.recovery === 'retry' ? lowerFirst(continueWith(situation, elsewhere)) : inNewWorkflow(situation, elsewhere)}`;

export const thenWaitOn = (situation: Situation) => thenContinue(situation, RESULT);
export const thenGetFile = (situation: Situation) => thenContinue(situation, FILE);

/** With another Result Path: as an option of this node for a retry, or of a new one. */
export function readAgain(situation: Situation, path: string): string {
	if (situation.recovery === 'retry')
		return `enter ${path} as Result Path in the options, ${retryWithChanges(situation)}: ${retryIsFree(situation)}.`;
	const more = `this task ID and ${path} as Result Path in the options`;
	return `${withNode(situation, 'Get Result', more)}.${buysAgain(situation)}`;
}

export const waitForAsset = (situation: Situation) => {
	const elsewhere = `${withNode(situation, 'Asset → Get', 'this asset ID')}.`;
	const uploads = situation.operation === 'upload';
	const again = uploads ? ' Running this node again uploads the file again.' : '';
	if (situation.recovery !== 'retry') return `To use it, ${elsewhere}${again}`;
	const retry = upperFirst(retryExecution(situation));
	return `${retry}: that ${uploads ? 'does not upload the file again' : 'costs nothing'}. If n8n offers no retry, ${elsewhere}${again}`;
};

export const upperFirst = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
const lowerFirst = (text: string) => `${text.charAt(0).toLowerCase()}${text.slice(1)}`;

/** For requests that may go well later. A retry submits only items that were not accepted, so it is named wherever n8n offers one. */
export const tryLater = (situation: Situation) =>
	situation.operation === ''
		? 'Try again later.'
		: `${withRest(situation, `${upperFirst(tryAgain(situation))} later`, ': ')}.`;

/** After a change that the advice names first. */
export const thenTryAgain = (situation: Situation) =>
	// In a batch, the words about the others say so.
	situation.recovery === 'retry' && (situation.others ?? 0) > 0 ? '' : ` Then ${tryAgain(situation)}.`;

/** The same for reasons that may meet a batch in the middle: it names what the retry does with the others. */
export const thenTryAgainWithRest = (situation: Situation) =>
	situation.operation === '' ? ' Then try again.' : ` Then ${withRest(situation, tryAgain(situation), ': ')}.`;

/** After a change of the form. In a batch, the words about the others say so. */
export const thenRetryWithChanges = (situation: Situation) =>
	situation.recovery === 'retry' && (situation.others ?? 0) === 0
		? ` Then ${retryWithChanges(situation)}.`
		: thenTryAgain(situation);

function tryAgain(situation: Situation): string {
	const { recovery } = situation;
	if (recovery === 'retry') return retryExecution(situation);
	return recovery === 'runAgain' ? 'run only this item again' : 'call this tool again';
}

export const createAgain = (situation: Situation) =>
	situation.operation === 'generate'
		? `To try again, ${withRest(situation, `${tryAgain(situation)}: that creates a new task, and you pay again`, '; ')}.`
		: 'To try again, create a new task with Generate.';
