import type { CreatedThing, Situation } from './row';

/** What a person calls it, where that is another word than the name of the thing. */
const WORDS: Partial<Record<string, string>> = { token: 'API key' };

export const wordOf = (thing: CreatedThing): string => WORDS[thing] ?? thing;

export const TWICE: Record<CreatedThing, string> = {
	task: 'you might pay for the task twice',
	token: 'there might be two API keys',
	verification: 'there might be two verifications',
	group: 'there might be two groups',
	asset: 'the asset might be uploaded twice',
};

/** The execution that a retry continues. */
const thisExecution = ({ subExecution }: Situation) =>
	subExecution === undefined ? 'this execution' : `execution ${subExecution} of this workflow`;

const retryExecution = (situation: Situation) => `retry ${thisExecution(situation)} in the Executions list`;

/** The variant that takes what was changed in the form. */
const retryWithChanges = ({ subExecution }: Situation) =>
	`save, and in the Executions list choose Retry with currently saved workflow${subExecution === undefined ? '' : ` for execution ${subExecution} of this workflow`}`;

/** The rest of a batch in a retry: what it continues, and what it submits for the first time. Empty where nothing is left. */
function restOfRun({ operation, others = 0, unsubmitted = 0 }: Situation): string {
	const one = others === 1;
	const count = one ? '' : `${others} `;
	const continued =
		operation === 'generate'
			? `the ${count}other ${one ? 'task continues and costs' : 'tasks continue and cost'} nothing`
			: `the ${count}other ${one ? 'request is' : 'requests are'} not sent again`;
	const without = operation === 'generate' ? 'without a task' : 'not accepted before';
	const items = unsubmitted === 1 ? `item ${without} is` : `${unsubmitted} items ${without} are`;
	return [others > 0 && continued, unsubmitted > 0 && `the ${items} submitted`].filter(Boolean).join(', and ');
}

const withRest = (situation: Situation, sentence: string, joint: string) =>
	[sentence, restOfRun(situation)].filter(Boolean).join(joint);

/** For a request whose outcome is unknown: only the account tells, and its list shows when each thing was created. */
export const decideYourself = (thing: CreatedThing, situation: Situation, atMs?: number) => {
	const when = typeof atMs === 'number' ? ` at ${new Date(atMs).toISOString().slice(11, 16)} UTC` : ' then';
	const word = wordOf(thing);
	const look = `Look in the ${word} list of your account for ${/^a/i.test(word) ? 'an' : 'a'} ${word} created${when}.`;
	return submitAgain(`${look} If there is none`, thing, situation);
};

/** For a thing of another request, of which a crashed try has left the ID: only the user knows if this one is wanted, too. */
export const decideAgain = (thing: CreatedThing, situation: Situation) =>
	submitAgain(`${USE_OF_EARLIER[thing]} If you want another one of this request`, thing, situation);

const USE_OF_EARLIER: Record<CreatedThing, string> = {
	task: 'Get Task with this task ID returns the result.',
	token: 'It was shown only once, so delete it in your account.',
	verification: 'Get Verification with this ID returns it.',
	group: 'The avatar group can be used with this ID.',
	asset: 'Get Asset with this ID returns it.',
};

function submitAgain(condition: string, thing: CreatedThing, situation: Situation): string {
	const { way, others = 0 } = situation;
	if (way !== 'retry') return `${condition}, ${way === 'runAgain' ? 'run this item again' : 'call this tool again'}.`;
	if (others > 0)
		return `${condition}, turn on Submit Again in the options, otherwise set On Error to Continue (using error output) in the settings. Then ${withRest(situation, retryWithChanges(situation), ': ')}.`;
	return `${condition}, turn on Submit Again in the options, ${retryWithChanges(situation)}. Running this node again creates every ${wordOf(thing)} again${thing === 'task' ? ', and you pay again' : ''}.`;
}

/** The way to the results of a batch when the reason of its end names none of its own. */
export const retryRest = (situation: Situation) => `Then ${retryExecution(situation)}: ${restOfRun(situation)}.`;

/** The same where a retry would end in the same way. */
export const retryRestPastError = (situation: Situation) =>
	`To get the rest, set On Error to Continue (using error output) in the settings, ${retryWithChanges(situation)}: ${restOfRun(situation)}.`;

/** An agent calls a tool again that has refused, unless it reads that this leads nowhere. */
export const stopCalling = ({ way }: Situation, why: string) =>
	way === 'callAgain' ? `Stop: do not call this tool again. ${why}, so every further call will be refused, too. ` : '';

/** Warns of the steps that cost money when the node that has met this is run again. */
export const buysAgain = ({ operation, way, subExecution }: Situation) => {
	if (operation !== 'generate') return '';
	if (way === 'callAgain') return ' Calling Generate again creates a new task, and you pay again.';
	const caller =
		way === 'retry' && subExecution !== undefined ? ', or retrying the workflow that called this one,' : '';
	return ` Running this node again${caller} creates a new task, and you pay again.`;
};

/** A node elsewhere: n8n would run everything before a node in this workflow, and with it what buys. */
export const withNode = ({ way }: Situation, node: string) =>
	way === 'callAgain' ? `use the operation ${node}` : `create a new workflow: a trigger, and behind it ${node}`;

/** Says that a retry costs nothing: it finds the task of the same request in the ledger. */
const retryIsFree = (situation: Situation) =>
	situation.operation === 'generate'
		? withRest(situation, 'it continues the task and costs nothing, unless the request has changed', '; ')
		: 'that costs nothing';

/**
 * Steps to continue a task that exists: the retry first, because n8n offers it, and a new node leads to paying again. In
 * a batch it is the only way: a node elsewhere would get one task of many.
 */
function continueWith(situation: Situation, aim: string, node: string): string {
	const elsewhere = `${withNode(situation, node)}.${buysAgain(situation)}`;
	if (situation.way !== 'retry') return `${aim}, ${elsewhere}`;
	const retry = `${upperFirst(retryExecution(situation))}: ${retryIsFree(situation)}.`;
	return (situation.others ?? 0) > 0 ? retry : `${retry} If n8n offers no retry, ${elsewhere}`;
}

export const waitOn = (situation: Situation) =>
	continueWith(situation, 'To get its result', 'Wait for Task with this task ID');

export const getFile = (situation: Situation) =>
	continueWith(situation, 'To get only the file', 'Get Task with this task ID and Download Result turned on');

/** With another Result Path: as an option of this node for a retry, or of a new one. */
export function readAgain(situation: Situation, path: string): string {
	const elsewhere = `${withNode(situation, `Get Task with this task ID and ${path} as Result Path in the options`)}.${buysAgain(situation)}`;
	if (situation.way !== 'retry') return elsewhere;
	const retry = `enter ${path} as Result Path in the options of this node, ${retryWithChanges(situation)}`;
	return `${retry}: ${retryIsFree(situation)}. If n8n offers no retry, ${elsewhere}`;
}

export const waitForAsset = (situation: Situation) => {
	const elsewhere = `create a new workflow: a trigger, and behind it Asset → Wait for Asset with this asset ID.`;
	const uploads = situation.operation === 'upload';
	const again = uploads ? ' Running this node again uploads the file again.' : '';
	if (situation.way !== 'retry') return `To use it, ${elsewhere}${again}`;
	const retry = upperFirst(retryExecution(situation));
	return `${retry}: that ${uploads ? 'does not upload the file again' : 'costs nothing'}. If n8n offers no retry, ${elsewhere}${again}`;
};

export const upperFirst = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
export const then = (text: string) => `Then ${text.charAt(0).toLowerCase()}${text.slice(1)}`;

/** For requests that may go well later. A retry submits only items that were not accepted, so it is named wherever n8n offers one. */
export const tryLater = (situation: Situation) =>
	situation.operation === ''
		? 'Try again later.'
		: `${withRest(situation, `${upperFirst(tryAgain(situation))} later`, ': ')}.`;

function tryAgain(situation: Situation): string {
	const { way } = situation;
	if (way === 'retry') return retryExecution(situation);
	return way === 'runAgain' ? 'run this item again' : 'call this tool again';
}

export const createAgain = (situation: Situation) =>
	situation.operation === 'generate'
		? `To try again, ${withRest(situation, `${tryAgain(situation)}: that creates a new task, and you pay again`, '; ')}.`
		: 'To try again, create a new task with Generate.';
