/** For the page of errors: the cause of each code of a run, where its message does not say it, and the step that follows. */
type Texts = [cause: string, step: string];

const RETRY = 'Retry.';
const LATER = 'Retry later.';
const FETCH = 'Retry. No retry: Get Result with the task ID.';
const GET = 'Get Result with the task ID, in a new workflow.';
const LOOK = '[Look in your account](../start/costs.md#if-the-outcome-is-unknown) before you buy again.';
const ADDRESS = 'Check the Base URL.';

export const CODE_TEXTS: Record<string, Texts> = {
	service_unreachable: [
		'No connection, no secure connection, or no answer in time.',
		'Check Base URL and network, then retry.',
	],
	no_key_sent: ['', 'Enter the API key; check the proxy.'],
	key_refused: ['The key is wrong or has expired.', 'Enter a valid key, then retry.'],
	key_not_allowed: ['The key is limited, for example to other models.', 'Use another key or model.'],
	service_unavailable: ['The gateway, or something in front of it, can’t answer now.', LATER],
	access_blocked: [
		'Three answers in a row refused access, and none was the gateway’s own.',
		'Check the key; ask the operator about firewalls.',
	],
	content_declined: [
		'The gateway’s content filter: it would decline the same request again.',
		'Change prompt or images.',
	],
	request_rejected: ['The gateway finds the request invalid.', 'Change the field that the description names.'],
	request_not_processed: ['Usually a temporary fault of the gateway.', LATER],
	not_found: ['The gateway doesn’t have what was asked for.', 'Check the ID and the credential.'],
	task_unknown: ['Another account’s task, or its result has expired.', 'Check the ID and the credential.'],
	endpoint_not_found: ['The address answered 404: it may be another program.', ADDRESS],
	model_not_found: ['', 'Check the model ID.'],
	rate_limited: ['Two minutes of 429.', 'Lower Requests per Second in the credential, then retry.'],
	no_free_place: ['', 'Retry later, or raise Timeout.'],
	request_too_large: ['The gateway, or a proxy, limits the size (413).', 'Shorten the longest field.'],
	upload_too_large: ['Usually, 20 MiB per image are allowed.', 'Make the image smaller.'],
	upload_endpoint_not_found: ['', 'Check Image Upload Path in the credential.'],
	no_upload_url: ['', 'Check Image Upload Path in the credential.'],
	service_redirects: ['Redirects aren’t followed: they would get the key.', 'Enter the final address as Base URL.'],
	not_the_service: ['The answer isn’t JSON: usually a web page.', ADDRESS],
	answer_too_large: [
		'The answer is beyond the [limits](limits.md).',
		'Check the Base URL; set `response_format` to `url`.',
	],
	too_many_large_answers: ['', LATER],
	package_bug: ['', 'Report it with the message on GitHub.'],

	already_running: ['The node was started twice by hand, for example by a double click.', 'Open the other execution.'],
	outcome_unknown: ['No clear answer came to the request.', LOOK],
	outcome_still_unknown: ['The same in an earlier try, or n8n crashed during it.', LOOK],
	created_from_other_request: [
		'After a crash: the item’s request is different now.',
		'Use the task that the error names, or Submit Again for Run.',
	],
	submission_not_recorded: ['n8n couldn’t write the row in Gateway Purchases.', 'Check n8n’s database, then retry.'],
	submitted_by_other_retry: ['', 'Look for the result there.'],
	not_submitted_alone: ['', 'Use the node in a workflow.'],
	submission_stopped: ['', 'Run only this item again.'],
	not_submitted: ['Another item stopped the run.', 'Solve what the description names, then retry.'],

	purchase_log_unavailable: ['', 'Turn on Purchase Log, then retry.'],
	purchase_key_conflict: ['', 'Use another key.'],
	purchase_key_in_agents: ['They run without a workflow.', 'Clear Purchase Key in this tool.'],
	purchase_key_unclear: ['The outcome of the first purchase with this key is unknown.', LOOK],
	purchase_key_expired: ['', 'To buy again, use another key.'],
	reuse_unavailable: ['', 'Execute again, or turn off the option.'],
	reused_task_expired: ['', 'To buy again, turn off Reuse While Building.'],

	created_task_not_found: ['The result has expired, or credential or path are others now.', 'Check both, then retry.'],
	created_task_elsewhere: ['The credential was changed after the purchase.', 'Enter the earlier Base URL, then retry.'],
	created_task_not_shown: ['For minutes, no answer was the status of this task.', FETCH],
	created_task_refused: ['', 'Check key and credits, then retry.'],
	no_task_status: ['The answer isn’t the status of this task.', 'Retry; check Task Status Path in the credential.'],
	task_failed: ['The task failed at the gateway, which the description quotes.', 'Retry: it buys a new task.'],
	timed_out: ['The task is still running.', FETCH],
	timed_out_alone: ['The AI Assistant executed the node alone.', GET],
	timed_out_early: ['', FETCH],
	result_not_passed_on: ['Normal while tasks are running. In a finished node: n8n shut down.', GET],
	stored_item_unreadable: ['', GET],
	stored_by_other_version: ['', 'Install that version again, or Get Result.'],
	waiting_not_started: ['', 'Fix what the description quotes, then retry.'],
	waiting_interrupted: ['Stopped, or n8n restarts again and again.', GET],
	waiting_canceled: ['', 'Get Result with the IDs that the error names.'],
	execution_stopped: ['', GET],

	no_result_url: ['', 'Enter Result Path, save, retry.'],
	no_result_at_path: ['', 'Correct Result Path, save, retry.'],
	download_not_allowed: ['', 'Turn on Private Network in the credential, then retry.'],
	download_failed: ['The file host refused, broke off, or sent no file.', FETCH],
	results_too_large_to_store: ['', 'Get Result, *URL Only*, *Until Ready*.'],
	too_many_result_files: ['', 'Get Result, *URL Only*.'],
	result_is_playlist: ['', 'Open its URL in a player.'],
	result_too_large: ['The files are beyond the [limits](limits.md).', 'Download from the URL outside n8n.'],
	result_too_large_to_store: ['This n8n doesn’t store files of that size.', 'Change how n8n stores files, then retry.'],
	result_not_stored: ['', 'Fix it in n8n, then retry.'],

	balance_too_low: ['The account’s credits, or this key’s own limit.', 'Add credits, then retry.'],
	balance_not_found: ['The address answered 404: it may be another program.', ADDRESS],
	not_an_account_balance: ['', ADDRESS],
	credits_unknown: ['The balance is incomplete.', 'Check Base URL and key.'],
	credits_below_limit: ['Stop If Below has stopped the workflow.', 'Add credits, then retry.'],
	user_unknown: ['The account of the key may not exist any more.', 'Check the account.'],
	used_balance_unknown: ['A temporary fault of the gateway.', LATER],

	token_name_too_long: ['', 'Shorten it.'],
	token_not_created: ['A fault of the gateway; the key may exist.', LOOK],
	token_key_gone: ['', 'Delete it; Submit Again for Run creates another.'],

	verification_unknown: ['The ID is wrong, or another account’s.', 'Check ID and credential.'],
	verification_result_not_given: [
		'Perhaps no one has passed yet, or the link has expired.',
		'Check later, or turn on Wait Until Verified.',
	],
	no_verification_link: ['', 'Verification → Get, or create a new one.'],
	no_verification_result: ['', ADDRESS],
	not_verified: ['The gateway says that this is final.', 'Create a new verification.'],
	not_verified_in_time: ['The link has expired.', 'Create a new verification.'],
	group_unknown: ['The group is of the other kind, or another account’s.', 'Check group and Avatar Kind.'],
	group_not_allowed: ['The key is limited, or the group is another account’s.', 'Use a key of that account.'],
	asset_unknown: ['The asset is of the other kind, or another account’s.', 'Check asset ID and Avatar Kind.'],
	no_asset_status: ['', RETRY],
	asset_failed: ['', 'Upload another file.'],
	file_unreadable: [
		'n8n doesn’t have the input file any more.',
		'Run the workflow from its beginning: what was bought is bought again.',
	],
};
