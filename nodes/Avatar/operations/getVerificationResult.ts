import type { INodeProperties } from 'n8n-workflow';
import { makeOrder } from '../../../core/orders/states';
import { simplifyField } from '../../form/fields';
import { optionsCollection } from '../../form/options';
import type { Operation } from '../../run/operation';
import { readWait } from '../../run/waitOptions';
import { timeoutOf, verificationIdField } from '../fields';
import { verificationResultProduct, type AboutVerificationResult } from '../products/verificationResultProduct';

const vendorTokenField: INodeProperties = {
	displayName: 'Vendor Token',
	name: 'vendorToken',
	type: 'string',
	required: true,
	typeOptions: { password: true },
	default: '',
	placeholder: 'e.g. {{ $json.vendor_token }}',
	description: 'The vendor_token that Verification → Create or Get returned',
};

const resultCodeField: INodeProperties = {
	displayName: 'Result Code',
	name: 'resultCode',
	type: 'string',
	default: '',
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
		const about: AboutVerificationResult = {
			simplify: item.options.simplifies,
			vendorToken: item.requiredText(vendorTokenField),
			resultCode: item.text(resultCodeField) || undefined,
		};
		return makeOrder({
			item: item.index,
			thing: 'verification',
			kind: 'real',
			task: { taskId: item.requiredText(verificationIdField), elapsedMs: 0 },
			then: waits ? 'poll' : 'read',
			wait: waits ? readWait(item, timeoutOption, run) : undefined,
			about,
		});
	},
	product: verificationResultProduct,
};
