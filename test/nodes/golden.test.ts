/** The requests in the golden files: sent exactly like that, and understood by the sandbox. */
import { kindOf, MODELS } from '../support/form';
import { generating, goldenModels, goldens } from '../support/goldens.mts';
import { quickSandbox, runGateway, type Sandbox } from '../support/nodes.mts';

let sandbox: Sandbox;
beforeAll(async () => {
	sandbox = await quickSandbox();
});
afterAll(async () => await sandbox.close());
beforeEach(() => sandbox.reset());

const posted = () =>
	sandbox.requests.filter(({ method }) => method === 'POST').map(({ path, body }) => ({ path, body }));

test.each(['image', 'video'] as const)(
	'every %s model has a golden file, and every golden file has a model',
	(kind) => {
		const files = goldenModels.filter((golden) => golden.kind === kind).map(({ id }) => id);
		expect(files.sort()).toEqual(MODELS[kind].map(({ id }) => id).sort());
	},
);

describe.each(generating)('$id', (golden) => {
	const kind = kindOf(golden);
	const model = golden.id;

	const generate = async (parameters: object) => {
		sandbox.addAsset({ id: 'pa_123' });
		const form = { operation: 'generate', wait: 'dontWait', model, ...parameters };
		return (await runGateway(kind, sandbox, form)).error;
	};

	test.each(golden.bodies)(
		`${golden.id} sends exactly the golden body, and the sandbox understands it in full: $name`,
		async ({ parameters, body }) => {
			expect(await generate(parameters)).toBeUndefined();
			expect(posted().map((each) => each.body)).toEqual([body]);
			expect(sandbox.tasks).toMatchObject([{ model: body.model, unknownFields: [] }]);
		},
	);

	// Jest takes no empty table.
	for (const { name, parameters, says } of golden.refused) {
		test(`${golden.id} refuses ${name}`, async () => {
			const error = await generate(parameters);
			for (const words of says) expect(error?.message).toContain(words);
			expect(error?.description).toMatch(/Nothing was sent/);
			expect(sandbox.requests).toEqual([]);
		});
	}
});

describe('what creates other things', () => {
	const tokens = goldens.filter((golden) => golden.kind === 'token').flatMap(({ bodies }) => bodies);
	const avatars = goldens.filter((golden) => golden.kind === 'avatar').flatMap(({ bodies }) => bodies);

	test.each(tokens)(
		'a token sends exactly the golden body, and the sandbox takes it: $name',
		async ({ parameters, body }) => {
			const { error } = await runGateway('token', sandbox, parameters);
			expect(error).toBeUndefined();
			expect(posted()).toEqual([{ path: '/v1/tokens', body }]);
		},
	);

	test.each(avatars)('an avatar sends exactly the golden body: $name', async ({ parameters, path, body }) => {
		await runGateway('avatar', sandbox, parameters);
		expect(posted()).toEqual([{ path, body }]);
	});
});
