/** The table of docs/reference/options.md: each option of the nodes once, with the operations that have it. */
import type { INodeProperties, INodePropertyOptions, INodeTypeDescription } from 'n8n-workflow';

/** Options that change nothing unless they are added, whatever n8n enters in their field then. */
const NOT_SET = ['pollIntervalSeconds', 'dailyLimit', 'monthlyLimit'];

interface Row {
	label: string;
	meaning: string;
	/** The values that apply where the option is not added, with where they do. */
	values: Map<string, Found[]>;
	places: Map<string, string[]>;
}

export function describeOptions(nodes: INodeTypeDescription[]): string {
	const rows = new Map<string, Row>();
	for (const node of nodes)
		for (const { place, option } of optionsOf(node)) note(rows, { node: node.displayName, place, option });
	const sorted = [...rows.values()].sort((a, b) => a.label.localeCompare(b.label));
	return [
		'| Option | Meaning | If not added | Operations |',
		'|---|---|---|---|',
		...sorted.map(
			({ label, meaning, values, places }) =>
				`| ${label} | ${meaning} | ${describeValues(values)} | ${describePlaces(places)} |`,
		),
	].join('\n');
}

interface Found {
	node: string;
	place: string;
	option: INodeProperties;
}

function optionsOf({ properties }: INodeTypeDescription): Array<Omit<Found, 'node'>> {
	return properties
		.filter(({ name, type }) => name === 'options' && type === 'collection')
		.flatMap((collection) => {
			const { resource = [], operation = [] } = collection.displayOptions?.show ?? {};
			const place = operation.map((value) => nameOf(properties, { value, resource })).join(', ');
			return (collection.options as INodeProperties[]).map((option) => ({ place, option }));
		});
}

/** E.g. "Asset → Upload". */
function nameOf(properties: INodeProperties[], { value, resource }: { value: unknown; resource: unknown[] }): string {
	const fields = properties.filter(
		({ name, displayOptions }) =>
			name === 'operation' &&
			(resource.length === 0 || displayOptions?.show?.resource?.some((one) => resource.includes(one))),
	);
	const choice = fields
		.flatMap(({ options }) => options as INodePropertyOptions[])
		.find((option) => option.value === value);
	const hasResources = properties.some(({ name, type }) => name === 'resource' && type === 'options');
	const [of = ''] = resource.map(String);
	return `${hasResources ? `${of.charAt(0).toUpperCase()}${of.slice(1)} → ` : ''}${choice?.name ?? String(value)}`;
}

function note(rows: Map<string, Row>, { node, place, option }: Found): void {
	const { displayName: label, description, hint } = option;
	const text = (description ?? hint ?? '').replace(/([^.])$/, '$1.').replaceAll('|', '\\|');
	const row = rows.get(`${label}${text}`) ?? { label, meaning: text, values: new Map(), places: new Map() };
	add(row.values, valueOf(option), { node, place, option });
	add(row.places, node, place);
	rows.set(`${label}${text}`, row);
}

function add<T>(map: Map<string, T[]>, key: string, value: T): void {
	const values = map.get(key) ?? [];
	map.set(key, values.includes(value) ? values : [...values, value]);
}

function valueOf({ name, type, default: value }: INodeProperties): string {
	if (NOT_SET.includes(name) || value === '' || value === '{}') return 'not set';
	if (type === 'boolean') return name === 'simplify' ? 'on' : 'off';
	return `\`${String(value)}\``;
}

/** Where a value applies, if there are several: the nodes, or of one node the operations. */
function describeValues(values: Map<string, Found[]>): string {
	if (values.size === 1) return [...values.keys()].join('');
	const nodes = new Set([...values.values()].flat().map(({ node }) => node));
	const namesOf = (found: Found[]) =>
		nodes.size === 1 ? listed(found.map(({ place }) => place)) : [...new Set(found.map(({ node }) => node))].join(', ');
	return [...values].map(([value, found]) => `${value} (${namesOf(found)})`).join(', ');
}

/** "Asset → Upload, Get": the resource once. */
function listed(places: string[]): string {
	const resourceOf = (place?: string) => place?.split(' → ').slice(0, -1).join();
	return places
		.map((place, index) => (resourceOf(place) === resourceOf(places[index - 1]) ? place.replace(/.* → /, '') : place))
		.join(', ');
}

/** Nodes with the same operations together: "Gateway Image, Gateway Video: Generate". */
function describePlaces(places: Map<string, string[]>): string {
	const byOperations = new Map<string, string[]>();
	for (const [node, operations] of places) add(byOperations, listed(operations), node.replace('Gateway ', ''));
	return [...byOperations].map(([operations, nodes]) => `${nodes.join(', ')}: ${operations}`).join('; ');
}
