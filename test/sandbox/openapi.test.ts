/** The sandbox against docs/service/openapi.json, which a third hand has written from the contract. */
import Ajv2020 from 'ajv/dist/2020';
import fc from 'fast-check';
import { readPropertySettings } from '../support/propertySettings.mts';
import { fitting, spoiled, type Schema } from '../support/fuzz';
import { readProjectFile } from '../support/sources.mts';
import { Bench } from './helpers';

interface Operation {
	requestBody?: { content: { 'application/json': { schema: Schema } } };
	responses: Record<string, { content: { 'application/json': { schema: Schema } } }>;
}
const document = JSON.parse(readProjectFile('docs/service/openapi.json')) as {
	paths: Record<string, Record<string, Operation>>;
};
const ajv = new Ajv2020({ strict: false, allErrors: false }).addSchema(document, 'api');
const at = (...place: string[]) =>
	`api#/${place.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`;
const resolve = (ref: string) =>
	ref
		.slice(2)
		.split('/')
		.reduce<unknown>((value, name) => (value as Record<string, unknown>)[name], document) as Schema;
const IN_JSON = ['content', 'application/json', 'schema'];

const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
	Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
);
const endpoints = operations.map(({ path, method, operation }) => {
	const schema = operation.requestBody?.content['application/json'].schema;
	const bodies = schema ? (resolve(schema.$ref ?? '') ?? schema) : undefined;
	const each =
		bodies?.oneOf && !bodies.properties ? bodies.oneOf.map(({ $ref = '' }) => resolve($ref)) : [bodies ?? schema ?? {}];
	return {
		path,
		method,
		schema,
		bodies: each,
		fits: schema && ajv.compile({ $ref: at('paths', path, method, 'requestBody', ...IN_JSON) }),
		answers: ajv.compile({ $ref: at('paths', path, method, 'responses', '2XX', ...IN_JSON) }),
	};
});
const isRefusal = ajv.compile({ $ref: at('components', 'schemas', 'Refusal') });

/** Rules that no schema can hold: what an ID or a link leads to, numbers in texts; and the sandbox's own bound of `n`, of which the contract shows none. */
const BEYOND_THE_SCHEMA =
	/not found|base64 data|must be a public http|asset|group|must be a URL|n must be at most|balance does not cover/i;

const { seed, runs = 500, path: shrunk } = readPropertySettings('openapi');
const bench = new Bench({ balanceUsd: 1e12 });
afterAll(async () => await bench.sandbox.close());
beforeEach(() => begin());
const begin = () => {
	bench.sandbox.reset();
	bench.sandbox.addAsset({ id: 'pa_123' });
};

/** IDs that are known, and others. */
const IDS = ['task_unknown', 'pa_123', '...', '%00', '{task_id}', '😀'];

test('every answer fits the schema, and what the schema refuses is refused with the contract’s body', async () => {
	const seen: Record<string, number> = {};
	const count = (what: string) => (seen[what] = (seen[what] ?? 0) + 1);
	const request = fc.constantFrom(...endpoints.keys()).chain((index) => {
		const endpoint = endpoints[index];
		const body =
			endpoint.schema === undefined
				? fc.constant(undefined)
				: fc.constantFrom(...endpoint.bodies).chain((schema) => {
						const good = fitting(schema, resolve);
						return fc.oneof(
							{ weight: 3, arbitrary: good },
							{ weight: 2, arbitrary: spoiled(good, Object.keys(schema.properties ?? {})) },
						);
					});
		return fc.tuple(
			fc.constant(index),
			body,
			fc.nat(),
			fc.constantFrom(...IDS),
			fc.oneof(
				{ weight: 18, arbitrary: fc.constant(undefined) },
				{ weight: 1, arbitrary: fc.constantFrom<string | null>(null, 'wrong') },
			),
		);
	});
	await fc.assert(
		fc.asyncProperty(request, async ([index, body, nth, oddId, key]) => {
			const { path, method, fits, answers } = endpoints[index];
			if (bench.sandbox.tasks.length > 50) begin();
			const { tasks } = bench.sandbox;
			bench.clockMs += nth % 5_000;
			const known = tasks[nth % (tasks.length + 1)]?.id ?? oddId;
			const url = path.replace(/\{\w+\}/, () => encodeURIComponent(known));
			const before = tasks.length;
			const reply = await bench.call(method.toUpperCase() as 'GET', url, body as object | undefined, key);

			const isFine = answers(reply.json) && !isRefusal(reply.json);
			expect(reply.status).toBeLessThan(500);
			expect({
				url,
				body,
				reply: reply.text,
				errors: isFine || isRefusal(reply.json) ? null : answers.errors,
			}).toMatchObject({ errors: null });
			if (!isFine) {
				expect(reply.json).toMatchObject({ success: false, message: expect.stringMatching(/./) as string });
				expect(bench.sandbox.tasks).toHaveLength(before);
			}
			if (key !== undefined) {
				expect(reply.json.message).toBe(key === null ? 'No Authorization header' : 'Authentication failed');
				return void count('without a key');
			}
			if (fits === undefined) return void count(isFine ? 'read' : 'not found');
			if (!fits(body)) {
				expect({ body, why: fits.errors?.[0]?.message, isFine }).toMatchObject({ isFine: false });
				return void count('refused');
			}
			if (!isFine)
				expect({ body, message: reply.json.message }).toMatchObject({
					message: expect.stringMatching(BEYOND_THE_SCHEMA) as string,
				});
			count(isFine ? 'accepted' : 'refused for what no schema says');
		}),
		{ seed, numRuns: runs, ...(shrunk ? { path: shrunk } : {}) },
	);
	// Each kind of answer was met, and not by chance only.
	for (const kind of ['accepted', 'refused', 'read', 'not found', 'without a key'])
		expect({ seen, kind, often: (seen[kind] ?? 0) > runs / 100 }).toMatchObject({ often: true });
}, 600_000);
