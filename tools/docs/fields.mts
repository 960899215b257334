/** Tables of what a node's form holds, in Markdown, from the description that n8n shows. */
import type {
	IDisplayOptions,
	INodeProperties,
	INodePropertyCollection,
	INodePropertyOptions,
	INodeTypeDescription,
} from 'n8n-workflow';

/** One heading and one table per operation; one table for a node without operations. */
export function describeFields({ properties }: INodeTypeDescription): string {
	const operations = listOperations(properties);
	if (operations.length === 0) return table(properties);
	return operations
		.map(({ title, operation, show }) => {
			const own = properties.filter((property) => isShown(property, show));
			return [`### ${title}`, `${operation.description ?? ''}.`, table(own)].filter(Boolean).join('\n\n');
		})
		.join('\n\n');
}

function listOperations(properties: INodeProperties[]) {
	const hasResources = properties.some(({ name, type }) => name === 'resource' && type !== 'hidden');
	return properties
		.filter(({ name }) => name === 'operation')
		.flatMap(({ options, displayOptions }) =>
			(options as INodePropertyOptions[]).map((operation) => {
				const resource = hasResources ? displayOptions?.show?.resource?.[0] : undefined;
				return {
					operation,
					title: resource === undefined ? operation.name : `${titleCase(String(resource))}: ${operation.name}`,
					show: { operation: operation.value, ...(resource === undefined ? {} : { resource }) } as Record<
						string,
						unknown
					>,
				};
			}),
		);
}

/** Fields that depend on the model are in the tables of the models. */
function isShown({ name, type, displayOptions }: INodeProperties, show: Record<string, unknown>): boolean {
	if (name === 'operation' || name === 'resource' || type === 'notice') return false;
	if (displayOptions?.show?.model ?? displayOptions?.hide?.model) return false;
	return Object.entries(show).every(([key, value]) =>
		(displayOptions?.show?.[key] as unknown[] | undefined)?.includes(value),
	);
}

function table(properties: INodeProperties[]): string {
	const rows = properties
		.filter(({ name, type }) => type !== 'notice' && type !== 'hidden' && name !== 'options')
		.filter((property) => !isForExpressions(property))
		.flatMap((property) => [
			row(property.displayName, property, properties),
			...partsOf(property).map((part) => row(`${property.displayName} → ${part.displayName}`, part, properties)),
		]);
	return rows.length === 0 ? '' : ['| Field | Meaning |', '|---|---|', ...rows].join('\n');
}

/** The fields of a row. The options of an operation are in the table of all options. */
function partsOf({ type, options = [] }: INodeProperties): INodeProperties[] {
	return type === 'fixedCollection' ? (options as INodePropertyCollection[]).flatMap(({ values }) => values) : [];
}

function row(label: string, property: INodeProperties, all: INodeProperties[]): string {
	const { required, description, hint, type, options, displayOptions } = property;
	const choices =
		type === 'options' || type === 'multiOptions'
			? listed((options as INodePropertyOptions[]).map(({ name }) => name))
			: '';
	const { show, hide } = displayOptions ?? {};
	const conditions = [
		...conditionsIn(show).map(([name, values]) => `Shown if ${describeCondition(all, name, values)}.`),
		...conditionsIn(hide).map(([name, values]) => `Not shown if ${describeCondition(all, name, values)}.`),
	];
	const value = defaultOf(property);
	const meaning = [
		sentence(description ?? hint),
		choices === '' ? '' : `One of: ${choices}.`,
		...conditions,
		value === '' ? '' : `Default: ${value}.`,
	]
		.filter(Boolean)
		.join(' ');
	const cells = [`${label}${required ? ' *' : ''}`, meaning];
	return `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('<', '&lt;')).join(' | ')} |`;
}

/** Joined with semicolons where a name has a comma itself: otherwise it would read as two. */
const listed = (names: string[]) => names.join(names.some((name) => name.includes(',')) ? '; ' : ', ');

/** A condition that only an expression meets: the same field is in the table without it. */
const isForExpressions = ({ displayOptions }: INodeProperties) =>
	Object.values(displayOptions?.show ?? {}).some((values = []) => values.every(isCondition));

const isCondition = (value: unknown) => typeof value === 'object';

/** Those between the fields of an operation. */
const conditionsIn = (conditions: IDisplayOptions['show'] = {}) =>
	Object.entries(conditions)
		.filter(([name]) => !['operation', 'resource', '@tool'].includes(name))
		.map(([name, values = []]): [string, unknown[]] => [name, values.filter((value) => !isCondition(value))]);

/** In the words of the form: "Quota is Limited". */
function describeCondition(all: INodeProperties[], name: string, values: unknown[]): string {
	const fields = all.flatMap((property) => [property, ...partsOf(property)]);
	const field = fields.find((property) => property.name === name.replace(/^\//, ''));
	const words = values.map((value) =>
		value === ''
			? 'empty'
			: typeof value === 'boolean'
				? value
					? 'on'
					: 'off'
				: ((field?.options as INodePropertyOptions[] | undefined)?.find((option) => option.value === value)?.name ??
					String(value)),
	);
	return `${field?.displayName ?? name} is ${words.join(' or ')}`;
}

function sentence(text = ''): string {
	return text === '' || text.endsWith('.') ? text : `${text}.`;
}

function defaultOf({ type, default: value, options }: INodeProperties): string {
	if (type === 'boolean') return value === true ? 'on' : 'off';
	if (type === 'options')
		return (options as INodePropertyOptions[]).find((option) => option.value === value)?.name ?? '';
	if (value === '' || value === '{}' || typeof value === 'object' || value === undefined) return '';
	return type === 'json' ? '' : `\`${String(value)}\``;
}

const titleCase = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
