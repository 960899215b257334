/** For the page of errors: the cause of each code, where its message does not say it, and the step that follows. */
type Texts = [cause: string, step: string];

const LATER = 'Retry later.';
const FETCH = 'Retry. No retry: Get Result with the task ID.';
const GET = 'Get Result with the task ID.';
const LOOK = '[Look in your account](../start/costs.md#if-the-outcome-is-unknown) before you buy again.';

export const CODE_TEXTS: Record<string, Texts> = {
	invalid_input: [
		'A value in the form or the credential: the message names the field.',
		'Enter what the text below it says.',
	],
	unexpected_answer: [
		'The answer is none of this service, or lacks what was asked for.',
		'Check Base URL and Custom Paths in the credential.',
	],
	service_unreachable: [
		'No connection, no secure connection, or no answer in time.',
		'Check Base URL and network, then retry.',
	],
	key_refused: ['The key is missing, wrong or expired, or its account is gone.', 'Enter a valid key, then retry.'],
	key_not_allowed: [
		'The key is limited, for example to other models, or the group is another account’s.',
		'Use another key or model.',
	],
	service_unavailable: ['The gateway, or something in front of it, can’t answer now.', LATER],
	access_blocked: [
		'Three answers in a row refused access, and none was the gateway’s own.',
		'Check the key; ask the operator about firewalls.',
	],
	content_declined: [
		'The gateway’s content filter: it would decline the same request again.',
		'Change prompt or images.',
	],
	request_rejected: [
		'The gateway finds the request invalid, or too large.',
		'Change the field that the description names.',
	],
	not_found: [
		'A verification, group or asset of another account or kind, or a wrong ID.',
		'Check the ID and the credential.',
	],
	task_unknown: ['Another account’s task, or its result has expired.', 'Check the ID and the credential.'],
	model_not_found: ['', 'Check the model ID.'],
	rate_limited: ['Two minutes of 429.', 'Lower Requests per Second in the credential, then retry.'],
	no_free_place: ['', 'Retry later, or raise Timeout.'],
	package_bug: ['', 'Report it with the message on GitHub.'],

	already_running: [
		'A double click, or an execution that was stopped and may still get its answer.',
		'Open the other execution, or wait 3 minutes.',
	],
	outcome_unknown: ['No clear answer came to the request.', LOOK],
	outcome_still_unknown: ['The same in an earlier try, or n8n crashed during it.', LOOK],
	created_from_other_request: [
		'After a crash: the item’s request is different now.',
		'Use the task that the error names, or Submit Again for Run.',
	],
	submission_not_recorded: ['n8n couldn’t write the row in Gateway Purchases.', 'Check n8n’s database, then retry.'],
	submitted_by_other_retry: ['', 'Look for the result there.'],
	not_submitted: [
		'Another item, a stop, or the end of the wait held it back.',
		'Solve what the description names, then retry.',
	],

	purchase_log_unavailable: [
		'A Purchase Key or Reuse While Building needs the log.',
		'Turn on Purchase Log, then retry.',
	],
	purchase_key_conflict: ['', 'Use another key for each request.'],
	purchase_key_unclear: ['The outcome of the first purchase is unknown.', LOOK],
	purchase_key_expired: ['', 'To buy again, use another key.'],

	created_task_not_found: ['The result has expired, or credential or path are others now.', 'Check both, then retry.'],
	created_task_elsewhere: ['The credential was changed after the purchase.', 'Enter the earlier Base URL, then retry.'],
	created_task_not_shown: ['For minutes, no answer was the status of this task.', FETCH],
	task_failed: ['The task failed at the gateway, which the description quotes.', 'Retry: it buys a new task.'],
	timed_out: [
		'It may still be running. Assets and verifications are free.',
		'Raise Timeout, then retry with the saved workflow; for a verification, create a new one.',
	],
	stored_by_other_version: ['', 'Install that version again, or Get Result.'],
	waiting_not_started: ['', 'Fix what the description quotes, then retry.'],
	waiting_interrupted: ['n8n was stopped, restarted again and again, or damaged what it saved.', GET],
	execution_stopped: ['', GET],

	no_result_url: ['', 'Enter or correct Result Path, save, retry.'],
	download_not_allowed: ['', 'Turn on Private Network in the credential, then retry.'],
	download_failed: ['The file host refused, broke off, or sent no file; or n8n could not store it.', FETCH],
	result_is_playlist: ['', 'Open its URL in a player.'],
	result_too_large: [
		'More or larger files than the node downloads, or n8n stores: [limits](limits.md).',
		'Get Result, *URL Only*.',
	],

	balance_too_low: ['The account’s credits, or this key’s own limit.', 'Add credits, then retry.'],
	credits_below_limit: ['Stop If Below has stopped the workflow.', 'Add credits, then retry.'],

	token_key_gone: ['', 'Delete it; Submit Again for Run creates another.'],

	verification_result_not_given: [
		'Perhaps no one has passed yet, or the link has expired.',
		'Check later, or turn on Wait Until Verified.',
	],
	not_verified: ['It is final, or the link has expired.', 'Create a new verification.'],
	asset_failed: ['', 'Upload another file.'],
	file_unreadable: [
		'n8n doesn’t have the input file any more.',
		'Run the workflow from its beginning: what was bought is bought again.',
	],
};
