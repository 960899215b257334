/** The requests in the golden files: sent exactly like that, and understood by the sandbox. */
import { Bench, IMAGES, VIDEOS } from '../sandbox/helpers';
import { kindOf, MODELS, planRequest, refusalOf } from '../support/form';
import { generating, goldenModels, goldens } from '../support/goldens.mts';
import { quickSandbox, runGateway, type Sandbox } from '../support/nodes.mts';

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

	test.each(golden.bodies)(`${golden.id} sends exactly the golden body: $name`, ({ parameters, body }) => {
		expect(planRequest(kind, { model, ...parameters }).body).toEqual(body);
	});

	test.each(golden.bodies)(`the sandbox understands the body of ${golden.id} in full: $name`, async ({ body }) => {
		const bench = new Bench();
		bench.sandbox.addAsset({ id: 'pa_123' });
		const reply = await bench.post(kind === 'image' ? IMAGES : VIDEOS, body);
		expect(reply.json).toMatchObject({ object: 'generation.task', status: 'queued' });
		expect(bench.sandbox.tasks).toMatchObject([{ model: body.model, unknownFields: [] }]);
	});

	// Jest takes no empty table.
	for (const { name, parameters, says } of golden.refused) {
		test(`${golden.id} refuses ${name}`, () => {
			const message = refusalOf(kind, { model, ...parameters })?.message;
			for (const words of says) expect(message).toContain(words);
		});
	}
});

describe('what creates other things', () => {
	let sandbox: Sandbox;
	beforeAll(async () => {
		sandbox = await quickSandbox();
	});
	afterAll(async () => await sandbox.close());
	beforeEach(() => sandbox.reset());

	const posted = () =>
		sandbox.requests.filter(({ method }) => method === 'POST').map(({ path, body }) => ({ path, body }));
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
