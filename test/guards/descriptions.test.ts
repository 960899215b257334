import {
	NodeHelpers,
	type INodeProperties,
	type INodePropertyCollection,
	type INodePropertyOptions,
} from 'n8n-workflow';
import { declaredFiles, lint, loadPackage, printAsClass, type Loaded } from '../support/sources.mts';

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

const SMALL_WORDS = /^(a|an|and|at|by|for|from|in|of|on|or|per|the|to|with)$/;
const isTitleCase = (text: string) =>
	text.split(' ').every((word, index) => /^[^a-z]/.test(word) || (index > 0 && SMALL_WORDS.test(word)));
/** One sentence ends without a full stop; several sentences each end with one. */
const isPunctuated = (text: string) => /[.!?] \S/.test(text.replace(/e\.g\. /g, '')) === text.endsWith('.');

/** The breaches of n8n's UX guidelines, as lines to read. */
function breaches({
	path,
	property: { displayName, description, hint, type, placeholder, default: unset, ...property },
}: Entry): string[] {
	const choices = choicesOf({ displayName, type, default: unset, ...property });
	const texts = [description, hint, ...choices.map((choice) => choice.description)].filter(
		(text) => text !== undefined,
	);
	return [
		...(type === 'notice' || isTitleCase(displayName) ? [] : [`display name not in Title Case: ${displayName}`]),
		...texts.filter((text) => !isPunctuated(text)).map((text) => `full stop: ${text}`),
		...(type !== 'boolean' || description?.startsWith('Whether ')
			? []
			: [`a boolean starts with "Whether": ${description}`]),
		...(type === 'options' && unset !== '' && !choices.some(({ value }) => value === unset)
			? [`default is no choice: ${String(unset)}`]
			: []),
		...(type === 'string' && placeholder && !placeholder.startsWith('e.g. ')
			? [`placeholder starts with "e.g.": ${placeholder}`]
			: []),
	].map((breach) => `${path}: ${breach}`);
}

test('texts follow n8n’s UX guidelines', () => {
	const properties = [
		...nodes.flatMap(({ instance }) => instance.description.properties),
		...credentials.flatMap(({ instance }) => instance.properties),
	];
	expect(parametersOf(properties).flatMap(breaches)).toEqual([]);
});

test('every operation says in the list of actions what it does', () => {
	const operations = nodes.flatMap(
		({ className, instance }: Loaded<{ description: { properties: INodeProperties[] } }>) =>
			parametersOf(instance.description.properties)
				.filter(({ path }) => path === 'operation')
				.flatMap(({ property }) =>
					choicesOf(property).map(({ value, action, description }) => ({
						id: `${className}.${String(value)}`,
						action,
						description,
					})),
				),
	);
	expect(operations.length).toBeGreaterThan(0);
	expect(operations.filter(({ action, description }) => !action || !description)).toEqual([]);
	// n8n's guidelines: "Get row", not "Get a row". New nodes and tools are named like that.
	expect(operations.filter(({ action = '' }) => / (a|an|the) /i.test(action))).toEqual([]);
});

test('n8n names new nodes and tools from resource and operation', () => {
	const names = nodes
		.filter(({ instance }) => instance.description.properties.some(({ name }) => name === 'operation'))
		.map(({ instance: { description } }) => {
			const parameters = NodeHelpers.getNodeParameters(description.properties, {}, true, false, null, description);
			return parameters && NodeHelpers.makeNodeName(parameters, description);
		});
	expect(names).toEqual(['Get avatar asset', 'Get user balance', 'Generate image', 'Create API key', 'Generate video']);
});

test('no number has bounds of n8n: with them 15, 1, -5 or 1.5 become another valid number as they are typed', () => {
	const numbers = nodes
		.flatMap(({ instance }) => parametersOf(instance.description.properties))
		.filter(({ property }) => property.type === 'number');
	expect(numbers.length).toBeGreaterThan(0);
	const bounds = ['minValue', 'maxValue', 'numberPrecision'] as const;
	expect(
		numbers
			.filter(({ property }) => bounds.some((bound) => property.typeOptions?.[bound] !== undefined))
			.map(({ path }) => path),
	).toEqual([]);
});

test('what agents cannot use is hidden in tools', () => {
	const useless = ['downloadResult', 'options.includeInputFields', 'options.outputField', 'options.surviveRestarts'];
	const shown = nodes
		.flatMap(({ instance }) => parametersOf(instance.description.properties))
		.filter(
			({ path, property }) => useless.includes(path) && !property.displayOptions?.hide?.['@tool']?.includes(true),
		);
	expect(shown.map(({ path }) => path)).toEqual([]);
});

test('an added option arrives as the one who adds it wants it', () => {
	const defaults = nodes
		.flatMap(({ instance }) => parametersOf(instance.description.properties))
		.map(({ path, property }) => `${path}: ${String(property.default)}`);
	expect(defaults).toEqual(
		expect.arrayContaining(['options.includeInputFields: true', 'options.pollIntervalSeconds: 5']),
	);
	const switches = nodes
		.flatMap(({ instance }) => parametersOf(instance.description.properties))
		.filter(({ path, property }) => path.startsWith('options.') && property.type === 'boolean');
	expect(switches.map(({ path }) => path)).toContain('options.submitAgain');
	// Simplify is on without the option: whoever adds it wants to turn it off, and sees it on.
	expect(switches.filter(({ property }) => property.default !== true).map(({ path }) => path)).toEqual([]);
});

/** Three lines in n8n's tooltip. */
const LONGEST_TOOLTIP = 185;

test('no tooltip is longer than three lines', () => {
	const descriptions = nodes
		.flatMap(({ instance }) => parametersOf(instance.description.properties))
		.map(({ property: { description = '' } }) => description.replaceAll(/&[lg]t;/g, '<'));
	expect(descriptions.filter((text) => text.length > LONGEST_TOOLTIP)).toEqual([]);
});

test('a trigger has one event with an action, and texts of its own', () => {
	const triggers = nodes
		.filter(({ instance }) => instance.description.group.includes('trigger'))
		.map(({ instance }) => instance.description);
	expect(triggers.map(({ triggerPanel }) => typeof triggerPanel)).toEqual(['object', 'object']);
	const events = triggers.map(({ properties }) => properties.find(({ name }) => name === 'event'));
	expect(events.flatMap((event) => choicesOf(event as INodeProperties).map(({ action }) => action))).toEqual([
		'On verification finished',
		'On balance below threshold',
	]);
});

test('rows of a list have names in Title Case', () => {
	const rows = nodes
		.flatMap(({ instance }) => parametersOf(instance.description.properties))
		.flatMap(({ property }) => property.options ?? [])
		.filter((option): option is INodePropertyCollection => 'values' in option);
	expect(rows.map(({ displayName }) => displayName).filter((name) => !isTitleCase(name))).toEqual([]);
});

describe('what AI workflow builders read', () => {
	type Hint = { path: string; text: string };
	const hints = (): Hint[] =>
		nodes
			.flatMap(({ instance: { description } }) => [
				...[
					description.builderHint?.searchHint,
					...(description.builderHint?.relatedNodes ?? []).map(({ relationHint }) => relationHint),
				].map((text) => ({ path: description.name, text })),
				...parametersOf(description.properties).flatMap(({ path, property }) => [
					{ path, text: property.builderHint?.propertyHint },
					...choicesOf(property).map(({ value, builderHint }) => ({
						path: `${path} = ${String(value)}`,
						text: builderHint?.propertyHint,
					})),
				]),
			])
			.filter((hint): hint is Hint => hint.text !== undefined);

	test('hints for AI workflow builders stand where n8n reads them: of choices only at those of operation and resource, of these two at the choices alone', () => {
		const places = [...new Set(hints().map(({ path }) => path))];
		expect(places).toEqual(
			expect.arrayContaining([
				'imageGeneration',
				'videoGeneration',
				'operation = getTask',
				'operation = waitForTask',
				'whenDone',
				'options.surviveRestarts',
			]),
		);
		expect(
			places.filter(
				(path) =>
					/^(operation|resource|mode)$/.test(path) || (path.includes(' = ') && !/^(operation|resource) = /.test(path)),
			),
		).toEqual([]);
	});

	test('hints for AI workflow builders name only what there is', () => {
		const known = new Set(
			nodes.flatMap(({ instance: { description } }) => [
				description.name,
				...parametersOf(description.properties).flatMap(({ property }) => [
					property.name,
					...choicesOf(property).map(({ value }) => String(value)),
				]),
			]),
		);
		const named = hints().flatMap(({ text }) => text.match(/\b[a-z]+[A-Z]\w*/g) ?? []);
		expect(named.length).toBeGreaterThan(3);
		expect(named.filter((name) => !known.has(name))).toEqual([]);
		const related = nodes
			.flatMap(({ instance: { description } }) => description.builderHint?.relatedNodes ?? [])
			.map(({ nodeType }) => nodeType.replace('n8n-nodes-generation-gateway.', ''));
		expect(related.filter((name) => !known.has(name))).toEqual([]);
		const examples = nodes
			.flatMap(({ instance: { description } }) => description.builderHint?.extraTypeDefContent ?? [])
			.map(({ content }) => /parameters: \{ (.*) \}/.exec(content)?.[1] ?? '')
			.flatMap((parameters) => [...parameters.matchAll(/(\w+): (?:'([^']+)')?/g)].flatMap(([, ...words]) => words))
			.filter((word) => word !== undefined);
		expect(examples).toEqual(expect.arrayContaining(['operation', 'generate', 'model', 'prompt']));
		expect(examples.filter((word) => !known.has(word))).toEqual([]);
	});
});
