/**
 * What each form shows, from top to bottom. Written by hand, never taken from the code of the nodes, which it is to
 * check: the models from docs/service/contract.md; all other forms are decided here.
 */

export interface ExpectedForm {
	title: string;
	/** Name of the node type. */
	node: string;
	/** What is in the form already. */
	parameters?: Record<string, unknown>;
	/** What to choose in which field, in order. */
	choices: Array<[field: string, option: string]>;
	fields: string[];
	/** What "Add Field" and "Add option" offer. */
	offered?: Record<string, string[]>;
	/** Fields with n8n's warning sign, because they are needed and still empty. */
	marked?: string[];
}

const afterTheModel = ['Wait for Completion', 'Download Result', 'Simplify', 'Options'];

const generateOptions = [
	'Additional Fields (JSON)',
	'Concurrent Tasks',
	'Include Input Fields',
	'On Timeout',
	'Polling Interval (Seconds)',
	'Put Output File in Field',
	'Requests per Second',
	'Submit Again',
	'Timeout (Minutes)',
];

function model(node: string, name: string, fields: string[], offered: Record<string, string[]> = {}): ExpectedForm {
	return {
		title: name,
		node,
		choices: [
			['Operation', 'Generate'],
			['Model', name],
		],
		fields: ['Operation', 'Model', ...fields, ...afterTheModel],
		offered,
		marked: fields.filter((field) => ['Prompt', 'Model ID'].includes(field)),
	};
}

function operation(node: string, name: string, form: Pick<ExpectedForm, 'fields' | 'offered' | 'marked'>): ExpectedForm {
	return { title: name, node, choices: [['Operation', name]], ...form, fields: ['Operation', ...form.fields] };
}

function avatar(resource: string, name: string, form: Pick<ExpectedForm, 'fields' | 'offered' | 'marked'>): ExpectedForm {
	const choices: ExpectedForm['choices'] = [
		['Resource', resource],
		['Operation', name],
	];
	return { title: `${resource} ${name}`, node: 'avatar', choices, ...form, fields: ['Resource', 'Operation', ...form.fields] };
}

/** The contract's section 4.4.2, in its two variants. */
const betaOmni = ['Prompt', 'Mode', 'Duration', 'Aspect Ratio', 'Images', 'Reference Video'];
const getTask = {
	fields: ['Task ID', 'Download Result', 'Simplify', 'Options'],
	offered: { Options: ['Include Input Fields', 'Put Output File in Field', 'Requests per Second'] },
	marked: ['Task ID'],
};
const waitForTask = {
	fields: ['Task ID', 'Download Result', 'Simplify', 'Options'],
	offered: { Options: generateOptions.filter((option) => !['Additional Fields (JSON)', 'Submit Again'].includes(option)) },
	marked: ['Task ID'],
};

/** With the section of the contract. */
export const expectedForms: ExpectedForm[] = [
	// 4.5
	model('imageGeneration', 'gamma-image-2', ['Prompt', 'Resolution', 'Size', 'Number of Images', 'Reference Images'], { Options: generateOptions }),
	model('imageGeneration', 'Custom Model', ['Model ID', 'Body (JSON)']),
	// 4.4.1
	model('videoGeneration', 'alpha-video-1-5-pro', ['Prompt', 'Duration', 'Aspect Ratio', 'Resolution', 'Images', 'Optional Fields'], {
		'Optional Fields': ['Audio'],
		Options: generateOptions,
	}),
	// 4.4.2
	model('videoGeneration', 'beta-v3-omni', [...betaOmni, 'Audio']),
	model('videoGeneration', 'beta-video-o1', betaOmni),
	{
		...model('videoGeneration', 'beta-v3-omni', []),
		title: 'beta-v3-omni with a Base video',
		choices: [
			['Model', 'beta-v3-omni'],
			['Reference Video', 'Base'],
		],
		// The result is as long as the video.
		fields: ['Operation', 'Model', ...betaOmni.filter((field) => field !== 'Duration'), 'Reference Video URL', 'Audio', 'Optional Fields', ...afterTheModel],
		offered: { 'Optional Fields': ['Keep Original Sound'] },
		marked: ['Prompt', 'Reference Video URL'],
	},
	{
		...model('videoGeneration', 'beta-video-o1', []),
		title: 'beta-video-o1 with a Feature video',
		choices: [
			['Model', 'beta-video-o1'],
			['Reference Video', 'Feature'],
		],
		fields: ['Operation', 'Model', ...betaOmni, 'Reference Video URL', 'Optional Fields', ...afterTheModel],
		offered: { 'Optional Fields': ['Keep Original Sound'] },
		marked: ['Prompt', 'Reference Video URL'],
	},
	// 4.4.3
	model('videoGeneration', 'beta-v3', ['Prompt', 'Images', 'Optional Fields'], { 'Optional Fields': ['Aspect Ratio', 'Duration', 'Mode'] }),
	// 4.4.4
	model('videoGeneration', 'delta-2.6-flash', ['Prompt', 'Images', 'Reference Video URLs', 'Optional Fields'], {
		'Optional Fields': ['Audio', 'Duration', 'Resolution'],
	}),
	model('videoGeneration', 'Custom Model', ['Model ID', 'Body (JSON)']),
	{
		...model('videoGeneration', 'Custom Model', ['Model ID', 'Body (JSON)']),
		title: 'Custom Model without waiting',
		parameters: { waitForCompletion: false },
		fields: ['Operation', 'Model', 'Model ID', 'Body (JSON)', 'Wait for Completion', 'Simplify', 'Options'],
	},
	// The fields of what the expression gives; what another choice would not need is not marked.
	{
		...model('videoGeneration', 'Custom Model', ['Model ID', 'Body (JSON)']),
		title: 'the model as an expression that gives Custom Model',
		parameters: { model: '={{ "cus" + "tom" }}' },
		choices: [],
		marked: [],
	},
	{
		...model('videoGeneration', 'beta-v3', ['Prompt', 'Images', 'Optional Fields']),
		title: 'the model as an expression that gives beta-v3',
		parameters: { model: '={{ "beta-" + "v3" }}' },
		choices: [],
		marked: [],
	},
	{
		...model('videoGeneration', 'beta-v3-omni', [...betaOmni, 'Reference Video URL', 'Audio', 'Optional Fields']),
		title: 'the reference video as an expression that gives Feature',
		parameters: { model: 'beta-v3-omni', referenceVideo: '={{ "fea" + "ture" }}' },
		choices: [],
		marked: ['Prompt'],
	},

	operation('imageGeneration', 'Get Task', getTask),
	operation('imageGeneration', 'Wait for Task', waitForTask),
	operation('imageGeneration', 'Upload Image', {
		fields: ['Input Binary Field', 'Options'],
		offered: { Options: ['Include Input Fields', 'Requests per Second'] },
	}),
	operation('videoGeneration', 'Get Task', getTask),
	operation('videoGeneration', 'Wait for Task', waitForTask),

	operation('balance', 'Get User Balance', {
		fields: ['Options'],
		offered: { Options: ['Include Input Fields', 'Stop Below (Credits)'] },
	}),
	operation('balance', 'Get Token Balance', { fields: ['Options'], offered: { Options: ['Include Input Fields'] } }),
	operation('token', 'Create', {
		fields: ['Name', 'Quota', 'Amount', 'Unit', 'Expiry', 'Allowed Models', 'Other Allowed Models', 'Options'],
		offered: {
			Options: [
				'Additional Fields (JSON)',
				'Channel Group',
				'Daily Limit (Credits)',
				'Include Input Fields',
				'Monthly Limit (Credits)',
				'Submit Again',
			],
		},
		marked: ['Name'],
	}),
	{
		title: 'Create, unlimited until a date',
		node: 'token',
		choices: [
			['Quota', 'Unlimited'],
			['Expiry', 'At a Date'],
		],
		fields: ['Operation', 'Name', 'Quota', 'Expiry', 'Expires At', 'Allowed Models', 'Other Allowed Models', 'Options'],
		marked: ['Name', 'Expires At'],
	},

	avatar('Verification', 'Create', { fields: ['Callback URL', 'Reference', 'Get Link', 'Options'] }),
	avatar('Verification', 'Get', { fields: ['Task ID', 'Options'], marked: ['Task ID'] }),
	avatar('Verification', 'Get Result', {
		fields: ['Task ID', 'Vendor Token', 'Result Code', 'Wait Until Verified', 'Options'],
		marked: ['Task ID', 'Vendor Token'],
	}),
	avatar('Group', 'Create', { fields: ['Name', 'Description', 'Options'] }),
	avatar('Asset', 'Upload', {
		fields: ['Avatar Kind', 'Group ID', 'Asset Type', 'Source URL', 'Wait for Active', 'Options'],
		marked: ['Group ID', 'Source URL'],
	}),
	avatar('Asset', 'Get', { fields: ['Avatar Kind', 'Asset ID', 'Options'], marked: ['Asset ID'] }),
	avatar('Asset', 'Wait for Asset', { fields: ['Avatar Kind', 'Asset ID', 'Options'], marked: ['Asset ID'] }),

	{ title: 'trigger', node: 'balanceTrigger', choices: [], fields: ['Poll Times', 'Mode', 'Threshold', 'Unit', 'Options'] },
	{ title: 'trigger', node: 'avatarVerificationTrigger', choices: [], fields: [] },
];

/** Contract section 4.5. */
export const expectedSizes = {
	'1K': ['1:1 (1024 × 1024)', '2:3 (1024 × 1536)', '3:2 (1536 × 1024)'],
	'2K': [
		'1:1 (2048 × 2048)',
		'1:2 (1344 × 2688)',
		'16:9 (2048 × 1152)',
		'2:1 (2688 × 1344)',
		'2:3 (1360 × 2048)',
		'21:9 (2688 × 1152)',
		'3:2 (2048 × 1360)',
		'3:4 (1536 × 2048)',
		'4:3 (2048 × 1536)',
		'4:5 (2048 × 2560)',
		'5:4 (2560 × 2048)',
		'9:16 (1152 × 2048)',
		'9:21 (1152 × 2688)',
	],
	'4K': [
		'1:2 (1920 × 3840)',
		'16:9 (3840 × 2160)',
		'2:1 (3840 × 1920)',
		'21:9 (3840 × 1648)',
		'9:16 (2160 × 3840)',
		'9:21 (1648 × 3840)',
	],
};
