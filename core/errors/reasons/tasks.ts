import { VERIFICATION_LINK_SECONDS } from '../../limits';
import { TABLE_NAME } from '../../labels';
import {
	buyAgain,
	buysAgain,
	continueAsset,
	continueTask,
	retryAfter,
	createAgain,
	lookAgain,
	readsStoredInput,
	thenContinueTask,
	thenTryAgain,
	tryLater,
	upperFirst,
} from '../recovery';
import type { CatalogueEntry, NamedRun, Situation } from '../catalogueEntry';
import type { CreatedThing } from '../things';

interface Task {
	id: string;
}

interface Unfinished extends Task {
	thing: CreatedThing;
	status?: string;
	progress?: number;
}

const lastStatus = ({ status, progress }: Pick<Unfinished, 'status' | 'progress'>) =>
	status === undefined ? '' : ` (last status: ${status}${progress === undefined ? '' : `, ${progress} %`})`;

/** An agent does not see the form, and the person who asks it wants to know which limit ended the call. */
const limitOfTool = ({ recovery }: Situation) =>
	recovery === 'callAgain'
		? 'Timeout (Minutes) in the options of this tool, which is at most 10 in n8n Agents, ended the call. '
		: '';

const AFTER_TIMEOUT: Partial<Record<CreatedThing, (situation: Situation, is: string) => string>> = {
	task: (situation, is) =>
		situation.recovery === 'retry'
			? retryAfter('Raise Timeout', situation)
			: `It ${is} running. ${limitOfTool(situation)}${continueTask(situation)}`,
	asset: (situation, is) => `It ${is} in process. ${continueAsset(situation)}`,
	verification: () =>
		`The person has not passed so far. The link is valid for ${VERIFICATION_LINK_SECONDS} seconds: create a new verification when the person is ready.`,
};

/** Names the places that have the IDs of tasks when nothing else has them. */
const FIND_IDS = `The IDs of all tasks are in n8n's log and, with Purchase Log in the credential, in the data table ${TABLE_NAME}.`;

/** Tasks that are accepted, and waiting for them. */
export const TASKS = {
	createdTaskNotFound: {
		kind: 'notFound',
		message: ({ id, age }: Task & { age?: string }) =>
			`The service accepted task ${id}${age === undefined ? '' : ` ${age} ago`}, but cannot find it`,
		advice: (data: { mediaKind: string; wasFound?: boolean } & NamedRun, situation) =>
			`${data.wasFound ? 'It was found before: the Base URL or API key may have changed' : `The result has expired, or the Base URL, API key or ${data.mediaKind === 'image' ? 'Image' : 'Video'} Task Status Path in the credential has changed or is wrong`}. ${lookAgain(data, situation)}`,
	},
	createdTaskElsewhere: {
		kind: 'notShown',
		message: ({ id }: Task) => `The service accepted task ${id}, but the Base URL in the credential is another one now`,
		advice: ({ why, ...named }: { why: string } & NamedRun, situation) =>
			`The new one says: ${why}. Enter the earlier Base URL. ${lookAgain(named, situation)}`,
	},
	createdTaskNotShown: {
		kind: 'notShown',
		message: ({ id, why }: Task & { why: string }) =>
			`The service accepted task ${id}, but does not say how it is: ${why}`,
		advice: (named: NamedRun, situation) =>
			`${situation.others ? '' : 'The task is bought. '}${lookAgain(named, situation)}`,
		serviceFirst: true,
	},
	createdTaskTooLarge: {
		kind: 'notShown',
		code: 'created_task_not_shown',
		message: ({ id }: Task) => `The service accepted task ${id}, but its record is too large for this node`,
		advice: (_: unknown, situation) =>
			`An HTTP Request node with this credential can read it. For new tasks, set response_format to url in Additional Fields (JSON).${buysAgain(situation)}`,
	},
	createdTaskRefused: {
		kind: 'permission',
		code: 'created_task_not_shown',
		message: ({ id, why }: Task & { why: string }) => `The service accepted task ${id}, but refuses to show it: ${why}`,
		advice: (_: unknown, situation) => `Check the API key and the credits. ${thenContinueTask(situation)}`,
	},
	failureOfNoTask: {
		kind: 'unavailable',
		code: 'unexpected_answer',
		message: 'The answer says that something went wrong, and does not name the task',
		advice: (_: unknown, situation) => `The task may still be running.${thenTryAgain(situation)}`,
		serviceFirst: true,
	},
	taskFailed: {
		kind: 'taskFailed',
		message: ({ id }: Task) => `The service could not finish task ${id}`,
		advice: ({ status }: { status: string }, situation) =>
			`${status.toLowerCase() === 'failed' ? '' : `The status of the task is "${status}". `}${situation.serviceAdvice ?? createAgain(situation)}`,
		serviceFirst: true,
	},
	taskDeclined: {
		kind: 'taskFailed',
		code: 'content_declined',
		message: ({ id }: Task) => `The service declined the content of task ${id}`,
		advice: (named: NamedRun, situation) =>
			situation.others
				? readsStoredInput(situation).trim()
				: `Change the prompt or images: the same is declined again.${readsStoredInput(situation)}${buyAgain(named, situation, 'To buy it anyway')}`,
		permanent: true,
		serviceFirst: true,
	},
	timedOut: {
		kind: 'taskTimedOut',
		message: ({ thing, id, after, status, progress }: Unfinished & { after: string }) =>
			`${upperFirst(thing)} ${id} has not finished within ${after}${lastStatus({ status, progress })}`,
		advice: ({ thing, trouble }: { thing: CreatedThing; trouble?: string }, situation) =>
			[
				AFTER_TIMEOUT[thing]?.(situation, trouble === undefined ? 'is still' : 'may still be'),
				trouble && `The last check got no status: ${trouble}.`,
			]
				.filter(Boolean)
				.join(' '),
	},
	timedOutAlone: {
		kind: 'taskTimedOut',
		code: 'timed_out',
		message: ({ thing, id, time, status, progress }: Unfinished & { time: string }) =>
			`${upperFirst(thing)} ${id} has not finished in the ${time} that n8n gives a single node${lastStatus({ status, progress })}`,
		// No timeout of the form has ended it.
		advice: ({ thing }: { thing: CreatedThing }, situation) =>
			thing === 'task'
				? `It goes on at the service, and is paid for. ${continueTask(situation)}`
				: (AFTER_TIMEOUT[thing]?.(situation, 'may still be') ?? ''),
	},
	resultNotPassedOn: {
		kind: 'stopped',
		code: 'waiting_interrupted',
		message: ({ id }: Partial<Task>) =>
			id === undefined ? 'The result of this item has not arrived yet' : `The result of task ${id} has not arrived yet`,
		advice: ({ id }: Partial<Task>, situation) =>
			id === undefined
				? `n8n keeps it in the execution that waits, until every task has finished. If the workflow has gone on without it, n8n ended meanwhile: do not buy it again. ${FIND_IDS}`
				: `n8n keeps it until every task has finished. If n8n shut down meanwhile, nothing is lost. ${continueTask(situation)}`,
	},
	storedItemUnreadable: {
		kind: 'stopped',
		code: 'waiting_interrupted',
		message: ({ id }: Partial<Task>) =>
			id === undefined ? 'What n8n has saved of this item is damaged' : `What n8n has saved of task ${id} is damaged`,
		advice: ({ id }: Partial<Task>, situation) =>
			id === undefined ? FIND_IDS : `The task is not lost. ${continueTask(situation)}`,
	},
	storedByOtherVersion: {
		kind: 'stopped',
		message: ({ id }: Partial<Task>) =>
			id === undefined
				? 'Another version of this package has stored this item, and this version cannot read it'
				: `Another version of this package has stored task ${id}, and this version cannot read it`,
		advice: ({ id }: Partial<Task>, situation) =>
			id === undefined
				? `Install that version again. Nothing more is submitted for this item. ${FIND_IDS}`
				: `Install that version again. ${continueTask(situation)}`,
	},
	waitingNotStarted: {
		kind: 'unavailable',
		message: ({ id }: Partial<Task>) =>
			id === undefined
				? 'n8n did not start the execution that submits this item'
				: `n8n did not start the execution that waits for task ${id}`,
		advice: ({ id, words }: Partial<Task> & { words: string }, situation) =>
			id === undefined
				? `n8n says: "${words}". Nothing was bought for this item. ${tryLater(situation)}`
				: `n8n says: "${words}". Fix this in n8n. ${thenContinueTask(situation)}`,
	},
	waitingInterrupted: {
		kind: 'stopped',
		message: ({ id, why }: Task & { why?: string }) =>
			`Waiting for task ${id} was interrupted${why === undefined ? '' : `: ${why}`}`,
		advice: ({ why }: { why?: string }, situation) =>
			`${why === undefined ? 'It was stopped, or n8n shut down repeatedly. ' : ''}${continueTask(situation)}`,
	},
	waitingCanceled: {
		kind: 'stopped',
		code: 'waiting_interrupted',
		message: 'The execution was canceled, because the workflow that waited was stopped',
		advice:
			'Results that came before are in the input of this node. Get those of the others with Get Result. A retry of this execution changes nothing.',
	},
	executionStopped: { kind: 'stopped', message: 'The execution was stopped', advice: '' },
} satisfies Record<string, CatalogueEntry>;
