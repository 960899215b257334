import type { IDataObject, INodeProperties } from 'n8n-workflow';
import type { VerificationKeys } from '../../../core/avatars/client';
import { recallVerification } from '../../../core/avatars/memory';
import { verificationTarget } from '../../../core/avatars/pollTargets';
import type { VerificationResult } from '../../../core/avatars/records';
import { namingTask } from '../../../core/errors';
import { LONGEST_URL } from '../../../core/urls';
import type { TextField } from '../../form/fieldReader';
import { simplifyField } from '../../form/fields';
import { optionsCollection, timeoutOf } from '../../form/options';
import { existing, waitFor, readWait } from '../../run/buy';
import type { Operation } from '../../run/operation';
import { recordField, toValue, withoutEmpty } from '../../run/toItem';
import type { Run } from '../../run/nodeRun';
import { memoryOf, verificationIdField } from '../verification';

const vendorTokenField: TextField = {
	displayName: 'Vendor Token',
	name: 'vendorToken',
	type: 'string',
	required: true,
	typeOptions: { password: true },
	default: '',
	maxLength: LONGEST_URL,
	placeholder: 'e.g. {{ $json.vendor_token }}',
	description: 'The vendor_token that Verification → Create or Get returned',
};

const resultCodeField: TextField = {
	displayName: 'Result Code',
	name: 'resultCode',
	type: 'string',
	default: '',
	maxLength: LONGEST_URL,
	placeholder: 'e.g. {{ $json.query.resultCode }}',
	description: 'The resultCode of the browser callback, if there is one. The service recommends sending it.',
};

const waitField: INodeProperties = {
	displayName: 'Wait Until Verified',
	name: 'waitUntilVerified',
	type: 'boolean',
	default: false,
	description: 'Whether to wait until the person has passed. If turned off, the node checks once.',
};

/** The link lives for two minutes (contract 3.3). */
const timeoutOption = timeoutOf(waitField, 3);

/** Get Result: whether the person has passed (contract 4.6, step 3), and the group that this yields. */
export const getVerificationResult: Operation = {
	option: {
		name: 'Get Result',
		value: 'getResult',
		description: 'Check whether the person has passed, and get the group',
		action: 'Get avatar verification result',
	},
	properties: [
		verificationIdField,
		vendorTokenField,
		resultCodeField,
		waitField,
		optionsCollection([timeoutOption, simplifyField]),
	],
	prepare: (item, run) => {
		item.given(waitField);
		const waits = item.flag(waitField);
		const record = recordField(item.options);
		const vendorToken = item.requiredText(vendorTokenField);
		const resultCode = item.text(resultCodeField) || undefined;
		const about = existing(item, 'verification', item.id(verificationIdField));
		const { task } = about;
		const keys: VerificationKeys = { taskId: task.taskId, vendorToken, resultCode };
		const wait = waits ? readWait(item, timeoutOption, run) : undefined;
		const { client } = run;
		return {
			about,
			run: async (controls) => {
				let result: VerificationResult | undefined;
				if (wait === undefined) result = await namingTask(task, client.avatars.getVerificationResult(keys));
				else {
					const createdAtMs = whenOpened(run, keys);
					const fetch = async (beforeSend?: () => void) =>
						await client.avatars.fetchVerificationResult(keys, beforeSend);
					const target = verificationTarget(task, fetch, createdAtMs);
					const survivalTable = client.survivalTable('verification');
					({ record: result } = await waitFor(run, controls, { about, target, wait, survivalTable, createdAtMs }));
				}
				return { json: toResultOutput(keys, result, record(result?.raw)) };
			},
		};
	},
};

/** The time of the link, where this workflow has made it. Otherwise only the task ID is known. */
function whenOpened({ context }: Run, { taskId, vendorToken }: VerificationKeys): number | undefined {
	const known = recallVerification(memoryOf(context), vendorToken, Date.now());
	return known?.taskId === taskId ? known.atMs : undefined;
}

/** The result when no poll got an answer. */
const NOT_SEEN: VerificationResult = { verified: false, refusal: {}, raw: {} };

/** The outcome as an output item. */
function toResultOutput(
	{ taskId, vendorToken }: VerificationKeys,
	result: VerificationResult = NOT_SEEN,
	more: IDataObject = {},
): IDataObject {
	return withoutEmpty({
		verified: result.verified,
		group_id: result.groupId,
		verify_status: result.verifyStatus,
		task_id: taskId,
		result_code: toValue(result.resultCode),
		vendor_token: vendorToken,
		reason: result.verified ? undefined : (result.refusal.message ?? result.refusal.code),
		...more,
	});
}
