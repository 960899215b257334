import type { INodeProperties } from 'n8n-workflow';

export const vendorTokenField: INodeProperties = {
	displayName: 'Vendor Token',
	name: 'vendorToken',
	type: 'string',
	required: true,
	typeOptions: { password: true },
	default: '',
	placeholder: 'e.g. {{ $json.vendor_token }}',
	description: 'The vendor_token that Verification → Create or Get returned',
};

export const resultCodeField: INodeProperties = {
	displayName: 'Result Code',
	name: 'resultCode',
	type: 'string',
	default: '',
	placeholder: 'e.g. {{ $json.query.resultCode }}',
	description: 'The resultCode of the browser callback, if there is one. The service recommends sending it.',
};

export const waitField: INodeProperties = {
	displayName: 'Wait Until Verified',
	name: 'waitUntilVerified',
	type: 'boolean',
	default: false,
	description: 'Whether to wait until the person has passed. If turned off, the node checks once.',
};
