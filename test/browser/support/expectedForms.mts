/**
 * The fields of each form, from top to bottom. Written by hand: for the models in their golden files, for the rest
 * here. Never taken from the code of the nodes, which it checks.
 */
import {
	decidingChoices,
	goldenModels,
	isInOptions,
	offeredLabels,
	optionsOf,
	shownFields,
	shownLabels,
	type GoldenModel,
} from '../../support/goldens.mts';

export interface ExpectedForm {
	title: string;
	/** Name of the node type. */
	node: string;
	/** Parameters that are set already. */
	parameters?: Record<string, unknown>;
	/** The choices to make, in order. */
	choices: Array<[field: string, option: string]>;
	fields: string[];
	/** The entries of "Add Field" and "Add option". */
	offered?: Record<string, string[]>;
	/** Fields with n8n's warning sign, because they are needed and still empty. */
	marked?: string[];
}

const afterTheModel = ['When Done', 'Download Result', 'Options'];

const generateOptions = [
	'Additional Fields (JSON)',
	'Concurrent Tasks',
	'Download Link',
	'File Name',
	'Include Input Fields',
	'On Timeout',
	'Polling Interval (Seconds)',
	'Purchase Key',
	'Put Output File in Field',
	'Report Credits',
	'Requests per Second',
	'Result Path',
	'Simplify',
	'Stream Progress',
	'Submit Again',
	'Survive Restarts',
	'Timeout (Minutes)',
];

/** Generate with a model; the choices are values of parameters on which other fields depend. */
function model(golden: GoldenModel, choices: Record<string, string | number> = {}): ExpectedForm {
	const offered = offeredLabels(golden, choices);
	return {
		...generate(`${golden.kind}Generation`, golden.id, shownLabels(golden, choices)),
		offered: offered.length > 0 ? { 'Optional Fields': offered } : {},
		marked: shownFields(golden, choices)
			.filter(({ required }) => required)
			.map(({ label }) => label),
	};
}

/** The same after a choice, if the form is then another one. */
function afterChoices(golden: GoldenModel): ExpectedForm[] {
	return decidingChoices(golden)
		.map(({ field, value, name }) => {
			const form = model(golden, { [field.parameter]: value });
			return {
				...form,
				title: `${golden.id}, ${field.label} ${name}`,
				choices: [...form.choices, [field.label, name] satisfies [string, string]],
			};
		})
		.filter(({ fields }) => fields.join() !== model(golden).fields.join());
}

function generate(node: string, name: string, fields: string[]): ExpectedForm {
	const choices: ExpectedForm['choices'] = [
		['Operation', 'Generate'],
		['Model', name],
	];
	return { title: name, node, choices, fields: ['Operation', 'Model', ...fields, ...afterTheModel] };
}

/** The model's own among those of all models, in alphabetical order. */
function offeredInOptions({ fields }: GoldenModel): string[] {
	const own = fields.filter(isInOptions).map(({ label }) => label);
	return [...generateOptions, ...own].sort((one, other) => one.localeCompare(other));
}

/** The entries of "Add option" are the same for all models: the first model of each node is enough. */
const isFirst = (golden: GoldenModel) => goldenModels.find(({ kind }) => kind === golden.kind) === golden;
const allModels = goldenModels.flatMap((golden) => {
	const form = model(golden);
	return [
		isFirst(golden) ? { ...form, offered: { ...form.offered, Options: offeredInOptions(golden) } } : form,
		...afterChoices(golden),
	];
});

function modelNamed(id: string, choices: Record<string, string> = {}): ExpectedForm {
	const golden = goldenModels.find((each) => each.id === id);
	if (golden === undefined) throw new Error(`There is no golden file of ${id}`);
	return model(golden, choices);
}

const custom = (node: string): ExpectedForm => ({
	...generate(node, 'Other Model (by ID)', ['Model ID', 'Body (JSON)']),
	marked: ['Model ID'],
});

function operation(
	node: string,
	name: string,
	form: Pick<ExpectedForm, 'fields' | 'offered' | 'marked'>,
): ExpectedForm {
	return { title: name, node, choices: [['Operation', name]], ...form, fields: ['Operation', ...form.fields] };
}

function avatar(
	resource: string,
	name: string,
	form: Pick<ExpectedForm, 'fields' | 'offered' | 'marked'>,
): ExpectedForm {
	const choices: ExpectedForm['choices'] = [
		['Resource', resource],
		['Operation', name],
	];
	return {
		title: `${resource} ${name}`,
		node: 'avatar',
		choices,
		...form,
		fields: ['Resource', 'Operation', ...form.fields],
	};
}

const getTask = {
	fields: ['Task ID', 'Download Result', 'Options'],
	offered: {
		Options: [
			'Download Link',
			'File Name',
			'Include Input Fields',
			'Put Output File in Field',
			'Requests per Second',
			'Result Path',
			'Simplify',
		],
	},
	marked: ['Task ID'],
};
const onlyWhenBuying = ['Additional Fields (JSON)', 'Purchase Key', 'Report Credits', 'Submit Again'];

const waitForTask = {
	fields: ['Task ID', 'Download Result', 'Options'],
	offered: { Options: generateOptions.filter((option) => !onlyWhenBuying.includes(option)) },
	marked: ['Task ID'],
};

export const expectedForms: ExpectedForm[] = [
	...allModels,
	custom('imageGeneration'),
	custom('videoGeneration'),
	{
		...custom('videoGeneration'),
		title: 'Other Model (by ID) without waiting',
		parameters: { whenDone: 'return' },
		fields: ['Operation', 'Model', 'Model ID', 'Body (JSON)', 'When Done', 'Options'],
	},
	...['imageGeneration', 'videoGeneration'].map((node) => ({
		...custom(node),
		title: 'Custom Model, which starts a workflow',
		choices: [...custom(node).choices, ['When Done', 'Start a Workflow'] satisfies [string, string]],
		fields: [
			'Operation',
			'Model',
			'Model ID',
			'Body (JSON)',
			'When Done',
			'Workflow',
			'Mode',
			'Pass Along (JSON)',
			'Download Result',
			'Options',
		],
		offered: { Options: generateOptions.filter((option) => option !== 'Survive Restarts') },
		marked: ['Model ID', 'Workflow'],
	})),
	// The fields of what the expression gives; what another choice would not need is not marked.
	{
		...custom('videoGeneration'),
		title: 'the model as an expression that gives Other Model (by ID)',
		parameters: { model: '={{ "cus" + "tom" }}' },
		choices: [],
		marked: [],
	},
	{
		...modelNamed('beta-v3'),
		title: 'the model as an expression that gives beta-v3',
		parameters: { model: '={{ "beta-" + "v3" }}' },
		choices: [],
		offered: {},
		marked: [],
	},
	{
		...modelNamed('beta-v3-omni', { referenceVideo: 'feature' }),
		title: 'the reference video as an expression that gives Feature',
		parameters: { model: 'beta-v3-omni', referenceVideo: '={{ "fea" + "ture" }}' },
		choices: [],
		offered: {},
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
		offered: { Options: ['Include Input Fields', 'Stop If Below (Credits)'] },
	}),
	operation('balance', 'Get API Key Balance', { fields: ['Options'], offered: { Options: ['Include Input Fields'] } }),
	operation('token', 'Create', {
		fields: ['Name', 'Quota', 'Amount', 'Unit', 'Expiry', 'Allowed Models', 'Other Allowed Models', 'Options'],
		offered: {
			Options: [
				'Additional Fields (JSON)',
				'Channel Group',
				'Daily Limit (Credits)',
				'Include Input Fields',
				'Monthly Limit (Credits)',
				'Simplify',
				'Submit Again',
			],
		},
		marked: ['Name', 'Amount'],
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
		fields: ['Avatar Kind', 'Group ID', 'Asset Type', 'Source URL', 'Wait Until Active', 'Options'],
		marked: ['Group ID', 'Source URL'],
	}),
	avatar('Asset', 'Get', { fields: ['Avatar Kind', 'Asset ID', 'Options'], marked: ['Asset ID'] }),
	avatar('Asset', 'Wait for Asset', {
		fields: ['Avatar Kind', 'Asset ID', 'Options'],
		marked: ['Asset ID'],
	}),

	{
		title: 'trigger',
		node: 'balanceTrigger',
		choices: [],
		fields: ['Poll Times', 'Mode', 'Event', 'Threshold', 'Threshold Unit', 'Options'],
	},
	{ title: 'trigger', node: 'avatarVerificationTrigger', choices: [], fields: ['Event'] },
];

/** Dropdowns whose options depend on another choice, as the sizes do on the resolution. */
export const expectedOptions = goldenModels.flatMap((golden) =>
	decidingChoices(golden).flatMap(({ field, value, name }) =>
		shownFields(golden, { [field.parameter]: value })
			.filter(({ label }) => golden.fields.filter((other) => other.label === label).length > 1)
			.map((dropdown) => ({
				node: `${golden.kind}Generation`,
				choices: [
					['Model', golden.id],
					[field.label, name],
				] satisfies Array<[string, string]>,
				label: dropdown.label,
				options: optionsOf(dropdown).map(([, option]) => option),
				chosen: optionsOf(dropdown).find(([option]) => option === dropdown.default)?.[1],
			})),
	),
);
