/** What must hold whatever the weather was. Returns what does not, in words. */
import type { IDataObject } from 'n8n-workflow';
import type { SandboxTask } from '../../../sandbox/state/tasks.mts';
import type { Story, Try } from './workflow.mts';

export interface Evidence {
	/** The ledger of the sandbox. */
	tasks: SandboxTask[];
	/** The item that a task was made for. */
	nameOf: (task: SandboxTask) => string;
	/** IDs that were in an answer which has reached the node. */
	delivered: ReadonlySet<string>;
	/** How many answers told nothing about the task, by item name. */
	unanswered: ReadonlyMap<string, number>;
	apiKey: string;
	submitAgain: boolean;
}

export function judge(story: Story, evidence: Evidence): string[] {
	return [
		...story.violations,
		...paidTwice(story, evidence),
		...lostIds(story, evidence),
		...story.tries.flatMap((each) => wrongItems(each, story.names[each.round], evidence)),
		...repeatedOutputs(story),
		...leftInLedger(story),
		...(JSON.stringify(story).includes(evidence.apiKey) ? ['the key is in an output, an error, the log or the context'] : []),
	];
}

const failed = (task: SandboxTask) => task.directives.fail !== undefined;

/** Accepted tasks that did not end `failed` are at most as many as the items that were to be bought. */
function paidTwice({ names }: Story, { tasks, nameOf, unanswered, submitAgain }: Evidence): string[] {
	const wanted = count(names.flat());
	const paid = count(tasks.filter((task) => !failed(task)).map(nameOf));
	return [...paid].flatMap(([name, bought]) => {
		// With Submit Again the user has chosen to risk one more for each answer that told nothing.
		const allowed = (wanted.get(name) ?? 0) + (submitAgain ? (unanswered.get(name) ?? 0) : 0);
		return bought > allowed ? [`${name} was bought ${bought} times instead of ${allowed}`] : [];
	});
}

/** Every ID that reached the node is in the log, and in what the user sees at the end. */
function lostIds({ tries, log, stopped }: Story, { tasks, delivered, submitAgain }: Evidence): string[] {
	const lasts = tries.filter(({ round, execution }, index) => {
		const next = tries[index + 1];
		return next?.round !== round || next.execution !== execution;
	});
	const seen = (among: Try[]) => among.map(({ items, error }) => `${textOf(items)} ${error ?? ''}`).join('\n');
	const anywhere = seen(tries);
	const atTheEnd = seen(lasts);
	return tasks
		.filter(({ id }) => delivered.has(id))
		.flatMap((task) => {
			const { id } = task;
			if (!log.includes(`task ${id} (`)) return [`${id} is not in the log`];
			if (stopped) return [];
			// A task that was given up, and made anew, may be named by the try that gave it up.
			const where = failed(task) || submitAgain ? anywhere : atTheEnd;
			return where.includes(id) ? [] : [`${id} is in no output and in no error`];
		});
}

const textOf = (items: Try['items']) => items?.map(({ json }) => Object.values(json).join(' ')).join('\n') ?? '';

/** Each output belongs to its input item, and says of its task what is true. */
function wrongItems({ items, error }: Try, names: string[], { tasks, nameOf }: Evidence): string[] {
	const problems: string[] = [];
	const messages = [error ?? '', ...(items ?? []).map(({ json }) => String(json.error ?? ''))];
	const say = (words: string) => messages.some((message) => message.includes(words));
	for (const task of tasks) {
		if (!failed(task) && say(`could not finish task ${task.id}`)) problems.push(`${task.id} is reported as failed`);
		if (task.directives.result !== 'none' && say(`Task ${task.id} is complete, but`)) problems.push(`the result of ${task.id} was not found`);
	}
	if (items === undefined || items.length === 0) return problems;
	if (items.length !== names.length) problems.push(`${items.length} outputs for ${names.length} items`);
	items.forEach(({ json, binary, pairedItem }, index) => {
		const paired = typeof pairedItem === 'object' && !Array.isArray(pairedItem) ? pairedItem.item : pairedItem;
		if (paired !== index) problems.push(`output ${index} is paired with item ${String(paired)}`);
		if (json.task_id === undefined) {
			if (json.error === undefined) problems.push(`output ${index} has neither task nor error`);
			return;
		}
		const task = tasks.find(({ id }) => id === json.task_id);
		if (task === undefined || nameOf(task) !== names[index]) {
			problems.push(`output ${index} has the task ${String(json.task_id)} of another item`);
			return;
		}
		if (json.status === (failed(task) ? 'completed' : 'failed')) problems.push(`${task.id} is reported as ${String(json.status)}`);
		const addresses = [...((json.urls as string[]) ?? []), ...Object.values(binary ?? {}).map(({ data }) => data)].filter((text) => text.startsWith('http'));
		if (addresses.some((address) => !address.includes(encodeURIComponent(task.id)))) problems.push(`output ${index} has a file of another task`);
	});
	return problems;
}

/** What is handed out twice was bought once where it was wanted twice. */
function repeatedOutputs({ tries }: Story): string[] {
	const lastOfRound = new Map(tries.map((each) => [each.round, each]));
	const ids = [...lastOfRound.values()].flatMap(({ items }) => items ?? []).flatMap(({ json }) => (json.task_id === undefined ? [] : [String(json.task_id)]));
	return [...count(ids)].flatMap(([id, times]) => (times > 1 ? [`${id} was handed out ${times} times`] : []));
}

/** A run that has ended well leaves nothing behind. */
function leftInLedger({ tries, store, stopped }: Story): string[] {
	const good = ({ items }: Try) => items !== undefined && items.every(({ json }: { json: IDataObject }) => json.error === undefined);
	const lastOfRound = new Map(tries.map((each) => [each.round, each]));
	const clean = !stopped && [...lastOfRound.values()].every(good);
	return clean && Object.keys(store).length > 0 ? [`the ledger keeps ${JSON.stringify(store)}`] : [];
}

function count(keys: string[]): Map<string, number> {
	const counts = new Map<string, number>();
	for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
	return counts;
}
