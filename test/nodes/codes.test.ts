/** The code of an item that could not be done: what a workflow acts on, whatever On Error says. */
import type { IDataObject } from 'n8n-workflow';
import {
	prompts,
	quick,
	quickSandbox,
	runGateway,
	type Kind,
	type RunOptions,
	type Sandbox,
} from '../support/nodes.mts';

let sandbox: Sandbox;
beforeAll(async () => {
	sandbox = await quickSandbox();
});
afterAll(async () => await sandbox.close());
beforeEach(() => sandbox.reset());

const generate = (prompt: string, more: IDataObject = {}) => ({
	operation: 'generate',
	prompt: `a ${prompt && `[[sandbox ${prompt}]]`}`,
	result: 'urlOnly',
	options: { ...quick, ...more },
});

interface Situation {
	kind?: Kind;
	parameters: IDataObject;
	fault?: Parameters<Sandbox['faults']['add']>[0];
	/** Fields of the item beside message, code and advice. */
	with?: IDataObject;
}

const inNetwork = { id: 'x', status: 'completed', url: 'http://10.0.0.5/a.png' };
const hasTask = { task_id: expect.any(String), waited_seconds: expect.any(Number) };

/** Several have one code where a workflow acts on them in one way. */
const SITUATIONS: Array<[code: string, Situation]> = [
	// Before anything is sent: of the form, and of the model
	['invalid_input', { parameters: { ...generate(''), prompt: '={{ $json.nothing }}' } }],
	['invalid_input', { parameters: generate('', { additionalFields: '[1]' }) }],
	['invalid_input', { kind: 'video', parameters: generate('', { additionalFields: '{"duration": 99}' }) }],
	['invalid_input', { parameters: generate('', { timeoutMinutes: '={{ "soon" }}' }) }],
	// Answers to a creation
	['balance_too_low', { parameters: generate('create=402'), with: { http_status: 402 } }],
	['key_refused', { parameters: generate('create=401'), with: { http_status: 401 } }],
	['content_declined', { parameters: generate('create=422'), with: { http_status: 422 } }],
	['request_rejected', { parameters: generate('create=400'), with: { http_status: 400 } }],
	['outcome_unknown', { parameters: generate('create=504'), with: { http_status: 504 } }],
	[
		'outcome_unknown',
		{
			kind: 'token',
			parameters: { name: 't', quota: 'unlimited' },
			fault: { on: 'token', times: -1, do: 'token_failed' },
		},
	],
	// A task that exists
	[
		'task_unknown',
		{
			parameters: { operation: 'getResult', wait: 'dontWait', result: 'urlOnly', taskId: 'gone' },
			with: { http_status: 404 },
		},
	],
	[
		'task_failed',
		{
			parameters: generate('fail=generation_failed message="no paint: balance_too_low"'),
			with: { ...hasTask, status: 'failed' },
		},
	],
	['timed_out', { kind: 'video', parameters: generate('duration=never', { timeoutMinutes: 0.03 }), with: hasTask }],
	['no_result_url', { parameters: generate('result=none'), with: hasTask }],
	[
		'download_failed',
		{
			parameters: { ...generate('type=text/html'), result: 'file' },
			with: { ...hasTask, urls: [expect.any(String)] },
		},
	],
	[
		'download_not_allowed',
		{
			parameters: { operation: 'getResult', wait: 'dontWait', taskId: 'x', result: 'file' },
			fault: { on: 'status', times: -1, do: { status: 200, body: inNetwork } },
			with: { urls: [inNetwork.url] },
		},
	],
];

async function outputsOf(
	situation: Situation,
	onError: 'continueRegularOutput' | 'continueErrorOutput',
	more: RunOptions = {},
) {
	const { kind = 'image', parameters, fault } = situation;
	if (fault !== undefined) sandbox.faults.add(fault);
	const options = { items: prompts('x'), settings: { onError }, ...more };
	const { task } = await runGateway(kind, sandbox, parameters, options);
	return (task?.data?.main ?? []).map((items) => items?.map(({ json }) => json) ?? []);
}

test.each(SITUATIONS)('%s stands beside the message in the normal output', async (code, situation) => {
	const [[json]] = await outputsOf(situation, 'continueRegularOutput');
	expect(json).toMatchObject({ code, error: expect.stringContaining(' '), ...situation.with });
	expect(Object.keys(json).slice(0, 3)).toEqual(['error', 'code', 'details']);
});

test.each(SITUATIONS)('%s stands first in the details of the error output', async (code, situation) => {
	const [done, [json]] = await outputsOf(situation, 'continueErrorOutput');
	expect(done).toEqual([]);
	expect(json).toMatchObject({ error: expect.stringContaining(' '), details: { code, ...situation.with } });
	expect(Object.keys(json.details as IDataObject)[0]).toBe('code');
	expect(json).not.toHaveProperty('code');
});

test('a node without input has all of it at its error output, too', async () => {
	const situation = { parameters: generate('fail=generation_failed message="no paint"') };
	const [done, [json]] = await outputsOf(situation, 'continueErrorOutput', { withoutInput: true });
	expect(done).toEqual([]);
	const words = expect.stringContaining(' ');
	expect(json).toMatchObject({ error: words, message: words, details: { code: 'task_failed', ...hasTask } });
});

test('an item that was held back has a code of its own', async () => {
	const parameters = { ...generate('', { concurrentTasks: 1 }), prompt: '={{ $json.prompt }}' };
	const { json } = await runGateway('image', sandbox, parameters, {
		items: prompts('a [[sandbox create=402]]', 'b'),
		settings: { onError: 'continueRegularOutput' },
	});
	expect(json.map(({ code }) => code)).toEqual(['balance_too_low', 'not_submitted']);
});
