/** A case in n8n's own engine, over HTTP and in real time: the same story and the same judgement as with fake time. */
import type { IExecuteFunctions, INodeExecutionData, INodeType } from 'n8n-workflow';
import { start } from '../../support/engine.mts';
import { NODES, pause, prompts, quickSandbox, toOptions, type Sandbox } from '../../support/nodes.mts';
import { telling, type Case, type ItemPlan } from './cases';
import { judge } from './judge.mts';
import { nameOf } from './weather.mts';
import { parametersOf, planOf, itemNames, type Story, type Try } from './workflow.mts';

/** How long an answer, or a request that has left already, may take to arrive. */
const ON_ITS_WAY_MS = 1000;
/** The slowest answer of a quick case, and a little more. */
const LATE_ANSWER_MS = 2500;

/** Returns what does not hold, in words. */
export async function problemsOverHttp(drawn: Case): Promise<string[]> {
	const sandbox = await quickSandbox();
	try {
		const story = await playOverHttp(drawn, sandbox);
		return judge(story, { ...heardOf(drawn, sandbox), tasks: sandbox.tasks, nameOf, apiKey: sandbox.apiKey, submitAgain: drawn.submitAgain !== 'off' });
	} finally {
		await sandbox.close();
	}
}

async function playOverHttp(drawn: Case, sandbox: Sandbox): Promise<Story> {
	const names = itemNames(drawn, 0);
	const story: Story = { names: [names], tries: [], log: '', stopped: false, violations: [], store: {}, record: new Set() };
	const { promise } = start({
		...toOptions('image', sandbox, { ...parametersOf(drawn, 0), prompt: '={{ $json.prompt }}' }, {
			items: prompts(...names.map((name) => `${name} ${directivesOf(planOf(drawn, name))}`)),
			settings: { retryOnFail: drawn.maxTries > 1, maxTries: drawn.maxTries, waitBetweenTries: 0, onError: drawn.onError },
		}),
		node: witnessed(story),
	});
	let stoppedAtMs = Infinity;
	const stop = () => {
		stoppedAtMs = Date.now();
		promise.cancel();
	};
	const timer = drawn.stopAtMs === undefined ? undefined : setTimeout(stop, drawn.stopAtMs);
	const run = await promise;
	clearTimeout(timer);
	story.stopped = run.status === 'canceled';
	story.store = run.data.executionData?.contextData['node:Node'] ?? {};
	if (story.stopped) await pause(LATE_ANSWER_MS);
	if (story.stopped && sandbox.requests.some(({ at }) => at > stoppedAtMs + ON_ITS_WAY_MS)) story.violations.push('a request left after the stop');
	const refused = sandbox.requests.find(({ status }) => [401, 402, 403].includes(status ?? 0));
	const late = sandbox.requests.some(({ at, method }) => method === 'POST' && refused && at > refused.at + ON_ITS_WAY_MS);
	if (late && story.tries.length === 1) story.violations.push('a POST left after the key or the balance was refused');
	return story;
}

/** The first plan decides about the task, whichever POST it takes. */
function directivesOf({ posts }: ItemPlan): string {
	const create = posts.length === 0 ? '' : `create=${posts.map(({ answer }) => answer).join(',')}`;
	const { directives, polls } = posts[0]?.task ?? { directives: '', polls: [] };
	const poll = polls.length === 0 ? '' : `poll=${polls.join(',')}`;
	return `[[sandbox ${[create, directives, poll].filter(Boolean).join(' ')}]]`;
}

/** The node, with each of its tries and its log written down. */
function witnessed(story: Story): INodeType {
	const write = (line: string) => (story.log += `${line}\n`);
	return Object.assign(Object.create(NODES.image) as INodeType, {
		async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
			Object.defineProperty(this, 'logger', { value: { debug: write, info: write, warn: write, error: write } });
			const ended: Try = { round: 0, execution: 0 };
			try {
				const output = await NODES.image.execute.call(this);
				// A copy: n8n takes the items with errors out of the list.
				ended.items = output[0].map((item) => ({ ...item }));
				return output;
			} catch (thrown) {
				const { message, description, messages = [] } = thrown as { message: string; description?: string; messages?: string[] };
				ended.error = [message, description, ...messages].join(' ');
				throw thrown;
			} finally {
				story.tries.push(ended);
			}
		},
	});
}

/** What the answers have told the node, by what the sandbox was asked to answer. */
function heardOf(drawn: Case, sandbox: Sandbox) {
	const delivered = new Set<string>();
	const unanswered = new Map<string, number>();
	for (const name of new Set(itemNames(drawn, 0))) {
		const tasks = sandbox.tasks.filter((task) => nameOf(task) === name);
		const posts = sandbox.requests.filter(({ method, body }) => method === 'POST' && String((body as { prompt?: string }).prompt).startsWith(`${name} `));
		posts.forEach((_, index) => {
			const answer = planOf(drawn, name).posts[index]?.answer ?? 'ok';
			const { accepted, heard } = telling(answer);
			const id = accepted ? tasks.shift()?.id : undefined;
			if (id !== undefined && heard) delivered.add(id);
			if (!heard) unanswered.set(name, (unanswered.get(name) ?? 0) + 1);
		});
	}
	return { delivered, unanswered };
}
