/**
 * Deliberate breakages of what is read out of the answers of a service, and the simulation does not play: as in `unplayed.mjs`.
 *
 * @type {Array<{ promise: string, file: string, find: string, becomes: string, noticedBy: string, title: string }>}
 */
export const answers = [
	{
		promise: 'a 503 in the words of a Go gateway whose request has got no answer is not sent again',
		file: 'core/http/retry.ts',
		find: 'deadline[ _-]?exceeded|',
		becomes: '',
		noticedBy: 'test/core/retry.test.ts',
		title: 'context deadline exceeded',
	},
	{
		promise: 'a no with 200 in the words of what has passed the request on leaves the outcome open',
		file: 'core/http/answers.ts',
		find: 'isPassedOn(response);',
		becomes: 'false;',
		noticedBy: 'test/core/requests.test.ts',
		title: 'a no in the words of what stands in front of another service: socket hang up',
	},
	{
		promise: 'the ID of a request that was answered with an error is not taken for that of a task',
		file: 'core/records/ids.ts',
		find: "isErrorOnly(levels) ? [name] : [name, 'id']",
		becomes: "[name, 'id']",
		noticedBy: 'test/core/taskRecord.test.ts',
		title: 'the ID of a new task is that of the task, not of the request or of a user: {"id":"req_1","error"',
	},
	{
		promise: 'an asset is not active because another one is',
		file: 'core/avatars/records.ts',
		find: "textIn(raw, 'asset_id') !== undefined || hasOtherId",
		becomes: "textIn(raw, 'asset_id') !== undefined",
		noticedBy: 'test/core/client.test.ts',
		title: 'another one is active, under id',
	},
	// A credential that changes, and a node that n8n runs alone.
	{
		promise: 'a task that goes on under a word in camel case has not failed, and is not bought again',
		file: 'core/records/taskRecord.ts',
		find: 'STATES.get(toPlainCode(status))',
		becomes: 'STATES.get(status.toLowerCase())',
		noticedBy: 'test/core/taskEnd.test.ts',
		title: 'InQueue',
	},
	// Agents.
];
