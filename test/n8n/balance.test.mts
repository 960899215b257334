/** The Balance Trigger in production: what it has told stays in n8n's database. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { withParameters } from '../../tools/n8n/examples.mjs';
import { itemsOf, startExecution, untilFinished } from '../../tools/n8n/executions.mjs';
import {
	activate,
	deactivate,
	exampleFor,
	executionsOf,
	LEAP_DAYS,
	posted,
	saveWorkflow,
	untilExecuted,
} from './support/production.mts';
import { joinN8n, type Joined } from './support/shared.mts';
import { until } from './support/until.mts';

let instance: Joined;
before(async () => {
	instance = await joinN8n({ imageTaskMs: 400 });
});
after(() => instance?.close());
beforeEach(() => instance.sandbox.reset());

/** n8n takes no schedule shorter than a minute, but sixty of a minute each. */
const everySecond = {
	item: Array.from({ length: 60 }, (_, second) => ({ mode: 'custom', cronExpression: `${second} * * * * *` })),
};

/** The example, looking every second in place of every ten minutes. */
const lowBalanceAlert = () => {
	const looking = withParameters(exampleFor(instance, 'scheduled-batch.json'), 'Balance Is Low', {
		pollTimes: everySecond,
	});
	return withParameters(looking, 'Every Morning', { rule: LEAP_DAYS });
};

async function setBalance(credits: number) {
	await fetch(`${instance.sandbox.baseUrl}/__sandbox/account`, {
		method: 'POST',
		headers: { 'content-type': 'application/json' },
		body: JSON.stringify({ remain_credits: credits }),
	});
}

/** Waits until the balance was looked at twice more: the first of the two may have begun before. */
async function untilLookedAgain() {
	const looks = () => instance.sandbox.requests.filter(({ path }) => path.endsWith('/user/balance')).length;
	const before = looks();
	await until('the balance was looked at', () => looks() >= before + 2);
}

test('scheduled-batch.json fires once when the balance is below, again after it rose, and remembers both while it is not active', async () => {
	const workflowId = await saveWorkflow(instance, lowBalanceAlert());
	await setBalance(900);
	await activate(instance, workflowId);
	const [first] = await untilExecuted(instance, workflowId, 1);
	assert.equal(first?.status, 'success', JSON.stringify(first?.error));
	assert.equal(
		posted(instance, 'alerts')[0]?.message,
		'The account has 4.5 USD left (900 credits), less than 5 USD.',
		'at activation',
	);

	await setBalance(800);
	await untilLookedAgain();
	await deactivate(instance, workflowId);
	await activate(instance, workflowId);
	await untilLookedAgain();
	assert.equal((await executionsOf(instance, workflowId)).length, 1, 'not told again: n8n has stored that it was');

	await setBalance(1500);
	await untilLookedAgain();
	await setBalance(700);
	const executions = await untilExecuted(instance, workflowId, 2);
	await untilLookedAgain();
	assert.equal((await executionsOf(instance, workflowId)).length, 2, 'one execution for each crossing');
	assert.equal(itemsOf(executions[1]!, 'Balance Is Low')[0]?.json.remain_credits, 700);

	await deactivate(instance, workflowId);
});

test('a look at activation that is refused is shown as the reason why the trigger is not active', async () => {
	const workflowId = await saveWorkflow(instance, lowBalanceAlert());
	instance.sandbox.faults.add({ on: 'balance', times: -1, do: '401' });
	await assert.rejects(activate(instance, workflowId), /The service did not accept the API key/);
	assert.deepEqual(await executionsOf(instance, workflowId), []);
});

test('scheduled-batch.json buys nothing where the credits would run out, and says so once', async () => {
	await setBalance(11);
	const workflowId = await saveWorkflow(instance, lowBalanceAlert());
	const execution = await untilFinished(instance.rest, await startExecution(instance.rest, workflowId, 'Start'));
	assert.equal(execution.status, 'success', JSON.stringify(execution.error));
	assert.deepEqual(instance.sandbox.tasks, []);
	const [alert, ...others] = posted(instance, 'alerts');
	assert.equal(others.length, 0);
	assert.match(alert?.message ?? '', /^The batch was not started\. .*11 credits/);
});
