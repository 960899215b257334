import type { FormEntry } from '../entry';

interface Workflow {
	name: string;
}

/** Across Restarts, and In Another Workflow: all of it is known before anything is sent. */
export const BACKGROUND = {
	operationNotForWorkflows: {
		message: 'This operation cannot be used in workflows: the node uses it to wait across restarts',
		advice: 'Use Generate or Get Result, and set Wait to Until Ready, Across Restarts.',
	},
	passedDataTooLarge: {
		message: ({ bytes, max }: { bytes: number; max: number }) =>
			`The data passed along is ${bytes} bytes: at most ${max} are allowed`,
		advice: 'Pass along only what you need to identify the item, such as an ID.',
	},
	backgroundNotPossible: {
		message: ({
			missing,
			why = 'it needs n8n 2.41 or later and a saved workflow',
		}: {
			missing?: string;
			why?: string;
		}) =>
			`Wait cannot be In Another Workflow here: ${missing === undefined ? why : `this n8n excludes the node "${missing}"`}`,
		advice: ({ missing, why }: { missing?: string; why?: string }) =>
			`${missing !== undefined ? 'Remove it from NODES_EXCLUDE' : why === undefined ? 'Save the workflow, or update n8n' : `It needs n8n's data tables`}. Until then, set Wait to Don’t Wait and get the results with Get Result.`,
	},
	noSleepAlone: {
		message: ({ choice, time }: { choice: string; time: string }) =>
			`Wait cannot be ${choice} here: n8n runs this node alone for ${time} at most, and then deletes the executions that wait`,
		advice:
			'Set Wait to Don’t Wait, and get the result later with Get Result and the task ID. To wait, use the node in a workflow.',
	},
	backgroundInAgents: {
		message:
			'Wait cannot be In Another Workflow in n8n Agents: n8n runs this tool without an execution that could wait',
		advice: 'Set Wait of this tool to Don’t Wait, and add a tool for Get Result.',
	},
	workflowLoops: {
		message: 'The workflow could start this node again with its own results, and pay each time',
		advice:
			'Choose a different workflow. To stay in this one, connect its trigger When Executed by Another Workflow to nodes that do not lead back here.',
	},
	workflowNotPublished: {
		message: ({ name }: Workflow) =>
			`"${name}" is not published or no longer exists, so n8n could not start it with the results`,
		advice: 'Publish that workflow. If it has been deleted or comes from another n8n, choose a different one.',
	},
	workflowWithoutTrigger: {
		message: ({ name }: Workflow) => `"${name}" cannot be started by another workflow`,
		advice: 'Add the trigger When Executed by Another Workflow to it, and publish it.',
	},
	workflowNotStartable: {
		message: ({ name }: Workflow) => `n8n cannot start "${name}"`,
		advice: ({ words }: { words: string }) =>
			`n8n says: "${words}". Check the settings of that workflow, especially which workflows can call it, and the credentials of its nodes.`,
	},
	waitingNotPossible: {
		message: 'n8n cannot start the execution that waits for the tasks',
		advice: ({ words }: { words: string }) =>
			`n8n says: "${words}". If it is about the credential, ask its owner to share it with you, or ask a person who can use it to run the workflow.`,
	},
} satisfies Record<string, FormEntry>;
