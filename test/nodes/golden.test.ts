import type { IDataObject } from 'n8n-workflow';
import alphaVideo15Pro from '../golden/alpha-video-1-5-pro.json';
import betaV3 from '../golden/beta-v3.json';
import betaV3Omni from '../golden/beta-v3-omni.json';
import betaVideoO1 from '../golden/beta-video-o1.json';
import custom from '../golden/custom.json';
import delta26Flash from '../golden/delta-2.6-flash.json';
import gammaImage2 from '../golden/gamma-image-2.json';
import avatar from '../golden/avatar.json';
import token from '../golden/token.json';
import { Bench, IMAGES, VIDEOS } from '../sandbox/helpers';
import { MODELS, planRequest, type Kind } from '../support/form';
import { quickSandbox, runGateway, type Sandbox } from '../support/nodes.mts';

interface Golden {
	name: string;
	parameters: IDataObject;
	body: IDataObject;
}

/** Request bodies written by hand from docs/service/contract.md. A change here is a change of what the service is sent. */
const GOLDEN: Record<string, Golden[]> = {
	'gamma-image-2': gammaImage2,
	'alpha-video-1-5-pro': alphaVideo15Pro,
	'beta-v3-omni': betaV3Omni,
	'beta-video-o1': betaVideoO1,
	'beta-v3': betaV3,
	'delta-2.6-flash': delta26Flash,
	custom,
};

test('every model has golden bodies', () => {
	const ids = Object.values(MODELS).flat().map(({ id }) => id);
	expect(Object.keys(GOLDEN)).toEqual([...ids, 'custom']);
});

describe.each(Object.entries(GOLDEN))('%s', (model, cases) => {
	const kind: Kind = model === 'gamma-image-2' ? 'image' : 'video';

	test.each(cases)('sends exactly the golden body: $name', ({ parameters, body }) => {
		expect(planRequest(kind, { model, ...parameters }).body).toEqual(body);
	});

	test.each(cases)('is understood by the sandbox in full: $name', async ({ body }) => {
		const bench = new Bench();
		bench.sandbox.addAsset({ id: 'pa_123' });
		const reply = await bench.post(kind === 'image' ? IMAGES : VIDEOS, body);
		expect(reply.json).toMatchObject({ object: 'generation.task', status: 'queued' });
		expect(bench.sandbox.tasks).toMatchObject([{ model: body.model, unknownFields: [] }]);
	});
});

describe('what creates other things', () => {
	let sandbox: Sandbox;
	beforeAll(async () => {
		sandbox = await quickSandbox();
	});
	afterAll(async () => await sandbox.close());
	beforeEach(() => sandbox.reset());

	const posted = () => sandbox.requests.filter(({ method }) => method === 'POST').map(({ path, body }) => ({ path, body }));

	test.each(token)('a token sends exactly the golden body, and the sandbox takes it: $name', async ({ parameters, body }) => {
		const { error } = await runGateway('token', sandbox, parameters as IDataObject);
		expect(error).toBeUndefined();
		expect(posted()).toEqual([{ path: '/v1/tokens', body }]);
	});

	test.each(avatar)('an avatar sends exactly the golden body: $name', async ({ parameters, path, body }) => {
		await runGateway('avatar', sandbox, parameters as IDataObject);
		expect(posted()).toEqual([{ path, body }]);
	});
});
