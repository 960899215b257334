/** Tokens, avatars and other models, in n8n's engine: every value counts the same, typed in or given by an expression, in the Options, too. */
import type { IDataObject } from 'n8n-workflow';
import { goldens, type Parameters, type Value } from '../support/goldens.mts';
import { quickSandbox, runGateway, type Sandbox } from '../support/nodes.mts';

let sandbox: Sandbox;
beforeAll(async () => {
	sandbox = await quickSandbox();
});
afterAll(async () => await sandbox.close());
beforeEach(() => {
	sandbox.reset();
	sandbox.addAsset({ id: 'pa_123' });
});

/** n8n allows no expression there. */
const FIXED = ['resource', 'operation', 'whenDone'];

/** The parameters, each value in them as an expression that gives it. */
function asExpressions(value: unknown, name = ''): unknown {
	if (FIXED.includes(name) || (typeof value === 'string' && value.startsWith('='))) return value;
	if (Array.isArray(value)) return value.map((entry) => asExpressions(entry));
	if (typeof value === 'object' && value !== null)
		return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, asExpressions(entry, key)]));
	return `={{ ${JSON.stringify(value)} }}`;
}

/** n8n fills in the default of another resolution then: the node refuses it, and nothing is bought. */
const DEFAULT_OF_ANOTHER_CHOICE = '4K starts at 16:9, because 1:1 is unsupported there';

type Case = { kind: 'avatar' | 'token' | 'image' | 'video'; name: string; parameters: Parameters };
const cases = goldens.flatMap((golden): Case[] => {
	if (golden.kind === 'avatar' || golden.kind === 'token')
		return golden.bodies.map(({ name, parameters }) => ({ kind: golden.kind, name, parameters }));
	const kind = golden.kind === 'image' ? 'image' : 'video';
	const bodies = golden.bodies.filter(({ name }) => name !== DEFAULT_OF_ANOTHER_CHOICE);
	return bodies.map(({ name, parameters }) => ({
		kind,
		name: `${golden.id}: ${name}`,
		parameters: { operation: 'generate', whenDone: 'return', model: golden.id, ...parameters } satisfies Record<
			string,
			Value
		>,
	}));
});

const post = () => sandbox.requests.find(({ method, path }) => method === 'POST' && !path.includes('uploads'));

test.each(cases)(
	'$kind, $name: the request is the same with all values given by expressions',
	async ({ kind, parameters }) => {
		await runGateway(kind, sandbox, parameters as IDataObject);
		const typed = post();
		expect(typed).toBeDefined();
		sandbox.reset();
		sandbox.addAsset({ id: 'pa_123' });
		await runGateway(kind, sandbox, asExpressions(parameters) as IDataObject);
		expect([post()?.path, post()?.body]).toEqual([typed?.path, typed?.body]);
	},
);
