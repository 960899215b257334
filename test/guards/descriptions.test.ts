import { NodeHelpers, type INode, type INodeProperties, type INodePropertyOptions } from 'n8n-workflow';
import { declaredFiles, filesOf, lint, loadPackage, printAsClass, readProjectFile } from '../support/sources.mts';

let nodes: Awaited<ReturnType<typeof loadPackage>>['nodes'];
let credentials: Awaited<ReturnType<typeof loadPackage>>['credentials'];
beforeAll(async () => {
	({ nodes, credentials } = await loadPackage());
});

test('package.json names every node and every credential', () => {
	expect([...nodes, ...credentials].map(({ path }) => path).sort()).toEqual(declaredFiles().sort());
});

describe('n8n’s lint rules, on what the code generates', () => {
	test('n8n’s lint rules see through the printed form of a node', () => {
		const properties = [
			{ displayName: 'some thing', name: 'x', type: 'boolean', default: false, description: 'Turns it on' },
		];
		expect(lint([printAsClass('nodes/X/X.node.ts', 'X', 'INodeType', { description: { properties } })]).join()).toMatch(
			/miscased.*without-whether/,
		);
	});

	test('n8n’s lint rules find nothing in any node or credential', () => {
		const printed = [
			...nodes.map(({ path, className, instance }) => {
				// What belongs to a webhook is code; the lint of the sources sees it.
				const description = Object.fromEntries(
					Object.entries(instance.description).filter(([name]) => name !== 'webhooks'),
				);
				return printAsClass(path, className, 'INodeType', { description });
			}),
			...credentials.map(({ path, className, instance }) =>
				printAsClass(path, className, 'ICredentialType', { ...instance }),
			),
		];
		expect(lint(printed)).toEqual([]);
	});
});

const PACKAGE = 'n8n-nodes-generation-gateway.';

type Entry = { path: string; property: INodeProperties };

/** Every parameter, those inside of collections included, under the names that a workflow stores. */
function parametersOf(properties: INodeProperties[], prefix = ''): Entry[] {
	return properties.flatMap((property) => {
		const path = `${prefix}${property.name}`;
		const inner = (property.options ?? []).flatMap((option) => {
			if ('values' in option) return parametersOf(option.values, `${path}.${option.name}.`);
			return 'type' in option ? parametersOf([option], `${path}.`) : [];
		});
		return [{ path, property }, ...inner];
	});
}

function choicesOf({ type, options }: INodeProperties): INodePropertyOptions[] {
	const isChoice = (option: NonNullable<typeof options>[number]): option is INodePropertyOptions => 'value' in option;
	return type === 'options' || type === 'multiOptions' ? (options ?? []).filter(isChoice) : [];
}

/** One line per parameter: name, type and the values that a workflow may hold. */
function frozenLines(properties: INodeProperties[]): string[] {
	const values = new Map<string, Set<string>>();
	for (const { path, property } of parametersOf(properties)) {
		const line = values.get(`${path}: ${property.type}`) ?? new Set<string>();
		choicesOf(property).forEach(({ value }) => line.add(JSON.stringify(value)));
		values.set(`${path}: ${property.type}`, line);
	}
	return [...values]
		.map(([path, line]) => `${path}${line.size > 0 ? ` = ${[...line].sort().join(' | ')}` : ''}`)
		.sort();
}

/**
 * Saved workflows hold these names and values. New lines and new values may be added (`npx jest --ci=false -u`);
 * what is there must never change or go away.
 */
test('names and values of parameters are frozen', () => {
	const frozen = [
		...nodes.map(({ instance: { description } }) => [
			`${description.name} v${String(description.version)}`,
			frozenLines(description.properties),
		]),
		...credentials.map(({ instance }) => [instance.name, frozenLines(instance.properties)]),
	];
	expect(Object.fromEntries(frozen)).toMatchSnapshot();
});

/** The parameters of all nodes. */
const parameters = () => nodes.flatMap(({ instance }) => parametersOf(instance.description.properties));

test('the default of a list is one of its choices, or nothing where one must be chosen', () => {
	const lists = parameters().filter(({ property: { type, default: unset } }) => type === 'options' && unset !== '');
	expect(lists.length).toBeGreaterThan(10);
	expect(
		lists
			.filter(({ property }) => !choicesOf(property).some(({ value }) => value === property.default))
			.map(({ path }) => path),
	).toEqual([]);
});

test('every operation says in the list of actions what it does', () => {
	const operations = parameters()
		.filter(({ path }) => path === 'operation')
		.flatMap(({ property }) => choicesOf(property));
	expect(operations.length).toBeGreaterThan(10);
	expect(operations.filter(({ action, description }) => !action || !description)).toEqual([]);
});

test('no number has bounds of n8n: with them 15, 1, -5 or 1.5 become another valid number as they are typed', () => {
	const bounded = parameters()
		.filter(({ property: { typeOptions = {} } }) =>
			['minValue', 'maxValue', 'numberPrecision'].some((bound) => bound in typeOptions),
		)
		.map(({ path }) => path);
	expect(bounded).toEqual([]);
});

test('tools hide what agents cannot use', () => {
	const useless = ['options.concurrentTasks', 'options.fileName', 'options.outputField', 'result'];
	const found = parameters().filter(({ path }) => useless.includes(path));
	expect([...new Set(found.map(({ path }) => path))].sort()).toEqual(useless);
	const shown = found.filter(({ property }) => !property.displayOptions?.hide?.['@tool']?.includes(true));
	expect(shown.map(({ path }) => path)).toEqual([]);
});

describe('the examples', () => {
	const ours = filesOf('workflows').flatMap((path) =>
		(JSON.parse(readProjectFile(path)) as { nodes: INode[] }).nodes
			.filter(({ type }) => type.startsWith(PACKAGE))
			.map((node) => [`${path}, ${node.name}`, node] as const),
	);

	test('every operation and every trigger has one', () => {
		const shown = new Set(
			ours.map(([, { type, parameters }]) => {
				const name = type.slice(PACKAGE.length).replace(/Tool$/, '');
				return [name, parameters.resource, parameters.operation].filter(Boolean).join(' ');
			}),
		);
		const all = nodes.flatMap(({ instance: { description } }) => {
			const { name, properties, group } = description;
			if (group.includes('trigger')) return name;
			return properties.flatMap((property) => {
				if (property.name !== 'operation') return [];
				const resource = property.displayOptions?.show?.resource?.[0];
				const isFixed = properties.some((other) => other.name === 'resource' && other.type === 'hidden');
				return choicesOf(property).map(({ value }) =>
					[name, isFixed ? undefined : resource, value].filter(Boolean).join(' '),
				);
			});
		});
		expect(all.length).toBeGreaterThan(14);
		expect(all.filter((each) => !shown.has(each))).toEqual([]);
	});

	test.each(ours)('%s has fields that its form shows, with values that it offers', (_, node) => {
		const name = node.type.slice(PACKAGE.length);
		const description = nodes
			.map(({ instance }) => instance.description)
			.find((candidate) => [candidate.name, `${candidate.name}Tool`].includes(name));
		const { properties = [] } = description ?? {};
		const type = { name } as NonNullable<typeof description>;
		const shown = NodeHelpers.getNodeParameters(properties, node.parameters, true, false, node, type);
		// n8n itself adds Poll Times to a trigger.
		const stored = Object.entries(node.parameters).filter(([field]) => field !== 'pollTimes');
		expect(shown).toMatchObject(Object.fromEntries(stored));
		for (const [field, value] of stored) {
			const choices = parametersOf(properties).flatMap(({ path, property }) =>
				path === field ? choicesOf(property) : [],
			);
			if (choices.length > 0) expect(choices.map((choice) => choice.value)).toContain(value);
		}
	});
});
