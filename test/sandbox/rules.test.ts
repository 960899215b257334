/** The rules of the sandbox that no schema can hold. `openapi.test.ts` compares all others with docs/service/openapi.json. */
import { Bench, IMAGES, VIDEOS } from './helpers';

const url = 'https://example.com/a.png';
const video = 'https://example.com/a.mp4';
const bench = new Bench();
beforeEach(() => {
	bench.sandbox.reset();
	bench.sandbox.addAsset({ id: 'a' });
});

const image = { model: 'gamma-image-2', prompt: 'a cat' };
const pro = { model: 'alpha-video-1-5-pro', prompt: 'waves' };
const omni = { model: 'beta-v3-omni', prompt: 'waves' };
const base = { video_url: video, refer_type: 'base' };

test.each([
	['a model that a directive lets through', IMAGES, { model: 'gamma-image-3', prompt: '[[sandbox model=any]]' }],
	['an asset', IMAGES, { ...image, reference_images: ['asset://a'] }],
	['a reference to the third of two images', VIDEOS, { ...omni, prompt: '<<<image_3>>>', image_urls: [url, url] }],
	[
		'a base video with an image that the prompt does not name',
		VIDEOS,
		{ ...omni, video_list: [base], image_urls: [url] },
	],
	['an image without a prompt', VIDEOS, { model: 'beta-v3', image_urls: [url] }],
	['a prompt that begins like a file', VIDEOS, { model: 'alpha-video-2-0', prompt: 'data: waves, and more of them' }],
])('a request with %s is accepted', async (_label, path, body) => {
	expect((await bench.post(path, body)).json).toMatchObject({ object: 'generation.task', status: 'queued' });
	expect(bench.sandbox.tasks).toHaveLength(1);
});

test.each([
	['an unknown asset', IMAGES, { ...image, image_urls: ['asset://nope'] }, /asset nope does not exist/],
	['an unknown asset in no known field', VIDEOS, { model: 'alpha-video-2-0', x: ['asset://nope'] }, /asset nope/],
	['a data URI', IMAGES, { ...image, reference_images: ['data:image/png;base64,AAAA'] }, /base64/],
	['bare base64', IMAGES, { ...image, image_urls: ['iVBORw0KGgo'.repeat(10)] }, /base64/],
	[
		'a role for base64',
		VIDEOS,
		{ ...pro, image_with_roles: [{ url: 'data:x;base64,A', role: 'first_frame' }] },
		/base64/,
	],
	[
		'no such upload',
		IMAGES,
		{ ...image, image_urls: ['http://files.sandbox.test/uploads/x.png'] },
		/nothing was uploaded/,
	],
	['a base video of 11 s', VIDEOS, { ...omni, video_list: [{ ...base, video_url: `${video}?seconds=11` }] }, /3 to 10/],
])('a request with %s is refused', async (_label, path, body, refusal) => {
	const { status, json } = await bench.post(path, body);
	expect({ status, json }).toMatchObject({ status: 400, json: { success: false } });
	expect(json.message).toMatch(refusal);
	expect(bench.sandbox.tasks).toHaveLength(0);
});

test('the older name counts as reference_images, and unknown fields are noted', async () => {
	await bench.image('', { image_urls: [url], mode: 'pro' });
	expect(bench.sandbox.tasks[0]).toMatchObject({ effective: { reference_images: [url] }, unknownFields: ['mode'] });
});

test('a reference to the first image is put before a prompt that has none (contract 4.4.2)', async () => {
	await bench.post(VIDEOS, { ...omni, image_urls: [url] });
	expect(bench.sandbox.tasks[0]?.effective.prompt).toBe('<<<image_1>>>waves');
});

test.each(['{"model":', '[]', '"text"', ''])('the body %j is no JSON object, and is refused', async (payload) => {
	const { statusCode } = await bench.sandbox.api.inject({
		method: 'POST',
		url: IMAGES,
		headers: { authorization: 'Bearer sandbox-key', 'content-type': 'application/json' },
		payload,
	});
	expect(statusCode).toBe(400);
});
