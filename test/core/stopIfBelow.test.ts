/** The advice where Stop If Below has stopped a workflow: an agent has no Executions list, and an item no retry. */
import type { Situation } from '../../core/errors/entry';
import { textLike, textsOf } from './support';

test.each<[Situation['recovery'], string]>([
	['retry', 'Add credits to the account, and retry this execution in the Executions list. Or lower Stop If Below …'],
	['runAgain', 'Add credits to the account, or lower Stop If Below (Credits). Then run only this item again.'],
	[
		'callAgain',
		'Stop: do not call this tool again. The balance is too low, … Tell the user to add credits to the account.',
	],
])('the advice about a balance that is too low names the way on: %s', (recovery, advice) => {
	const situation = { operation: 'getUserBalance', recovery };
	const [message, text] = textsOf('creditsBelowLimit', { credits: 1, wanted: 2 }, situation);
	expect(message).toBe('Only 1 credits are left, but Stop If Below (Credits) is 2');
	expect(text).toMatch(textLike(advice));
});
