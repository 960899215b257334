/** Imports go one way: see "Where things are" in CONTRIBUTING.md. Type imports count as others. */
const OWN = '^(core|nodes|credentials|sandbox|test|tools|bench|workflows)/';
/** From the ground up: a folder may use those of the rows before its own. The nodes, and the files of core/ itself, may use all. */
const FLOORS = {
	core: [
		['errors'],
		['records', 'models'],
		['account'],
		['http'],
		['polling'],
		['avatars'],
		['orders'],
		['journal'],
		['engine'],
	],
	nodes: [['errors', 'models'], ['form', 'connection'], ['journal'], ['run'], ['generation'], ['durable']],
};

const only = (folder, allowed) => ({
	name: `${folder}-imports-${allowed.join('-and-')}-only`,
	severity: 'error',
	from: { path: `^${folder}/` },
	to: { path: OWN, pathNot: `^(${allowed.join('|')})/` },
});

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
	forbidden: [
		{ name: 'no-circle', severity: 'error', from: {}, to: { circular: true } },
		only('core', ['core']),
		only('nodes', ['core', 'nodes']),
		only('credentials', ['core']),
		only('sandbox', ['sandbox']),
		{
			name: 'core-needs-no-n8n-at-run-time',
			severity: 'error',
			from: { path: '^core/' },
			to: { pathNot: `${OWN}|^node_modules/(zod|p-limit)/`, dependencyTypesNot: ['type-only'] },
		},
		{
			name: 'what-is-installed-imports-only-what-n8n-brings-along',
			severity: 'error',
			from: { path: '^(core|nodes|credentials)/' },
			to: {
				pathNot: `${OWN}|^node_modules/(zod|luxon|p-limit|n8n-workflow)/|^crypto$|^package\\.json$`,
				dependencyTypesNot: ['type-only'],
			},
		},
		...Object.entries(FLOORS).flatMap(([house, floors]) =>
			floors.map((rooms, floor) => ({
				name: `${house}-${rooms.join('-and-')}-import-downwards-only`,
				severity: 'error',
				from: { path: `^${house}/(${rooms.join('|')})/` },
				to: {
					path: `^${house}/([^/]+)/`,
					pathNot: [`^${house}/(${floors.slice(0, floor).flat().concat('$1').join('|')})/`],
				},
			})),
		),
	],
	options: {
		tsPreCompilationDeps: true,
		tsConfig: { fileName: 'tsconfig.test.json' },
		doNotFollow: { path: 'node_modules' },
		enhancedResolveOptions: { extensions: ['.ts', '.mts', '.js', '.mjs', '.json'] },
	},
};
