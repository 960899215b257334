import { Bench, IMAGES, VIDEOS } from './helpers';

const url = 'https://example.com/a.png';
const video = 'https://example.com/a.mp4';

type Row = [label: string, body: Record<string, unknown>, refusal?: RegExp];

/** Rows without a refusal are accepted. */
function table(path: string, base: Record<string, unknown>, rows: Row[]): void {
	const bench = new Bench();
	beforeEach(() => {
		bench.sandbox.reset();
		bench.sandbox.addAsset({ id: 'a' });
	});
	const cases = rows.map(([label, body, refusal]) => ({
		label,
		body,
		refusal,
		outcome: refusal ? 'refused' : 'accepted',
	}));
	test.each(cases)(`a request to ${String(base.model)} with $label is $outcome`, async ({ body, refusal }) => {
		const reply = await bench.post(path, { ...base, ...body });
		if (refusal) {
			expect(reply.status).toBe(400);
			expect(reply.json).toMatchObject({
				success: false,
				message: expect.stringMatching(refusal),
			});
			expect(bench.sandbox.tasks).toHaveLength(0);
		} else {
			expect(reply.json).toMatchObject({
				object: 'generation.task',
				status: 'queued',
				progress: 0,
				metadata: {},
			});
			expect(bench.sandbox.tasks).toHaveLength(1);
		}
	});
}

describe('gamma-image-2 (contract 4.5)', () => {
	table(IMAGES, { model: 'gamma-image-2', prompt: 'a cat' }, [
		['defaults', {}],
		['a prompt of 32,000 characters', { prompt: '猫'.repeat(32_000) }],
		['a prompt of 32,001 characters', { prompt: 'x'.repeat(32_001) }, /^prompt must have at most 32000/],
		['an empty prompt', { prompt: ' ' }, /^prompt must not be empty/],
		['no model', { model: undefined }, /^model is required/],
		['an unknown model', { model: 'gamma-image-3' }, /^model must be one of/],
		['an unknown model that a directive lets through', { model: 'gamma-image-3', prompt: '[[sandbox model=any]]' }],
		['1:1 at 4K', { size: '1:1', resolution: '4K' }, /^size 1:1 is unsupported at resolution 4K/],
		['4K with the default size', { resolution: '4K' }, /^size 1:1 is unsupported/],
		['16:9 at 1K', { size: '16:9' }, /unsupported/],
		['9:21 at 4K', { size: '9:21', resolution: '4K' }],
		['an unknown resolution', { resolution: '8K' }, /^resolution must be one of/],
		['n of 0', { n: 0 }, /^n must be at least 1/],
		['n as text', { n: '2' }, /^n must be a number/],
		['n of 1.5', { n: 1.5 }, /^n must be a whole number/],
		['several references', { reference_images: [url, url, url] }],
		['the older name of reference_images', { image_urls: [url] }],
		['a data URI', { reference_images: ['data:image/png;base64,AAAA'] }, /^reference_images\[0\]: base64/],
		['bare base64', { image_urls: ['iVBORw0KGgo'.repeat(10)] }, /base64/],
		['an asset', { reference_images: ['asset://a'] }],
		['an unknown asset', { image_urls: ['asset://nope'] }, /asset nope does not exist/],
		['an asset without an ID', { image_urls: ['asset://'] }, /must be a public http or https URL/],
		[
			'an upload that is not there',
			{ reference_images: ['http://files.sandbox.test/uploads/x.png'] },
			/nothing was uploaded/,
		],
	]);

	test('the older name counts as reference_images, and unknown fields are noted', async () => {
		const bench = new Bench();
		await bench.image('', { image_urls: [url], mode: 'pro' });
		expect(bench.sandbox.tasks[0]).toMatchObject({
			effective: { reference_images: [url] },
			unknownFields: ['mode'],
		});
	});
});

describe('alpha-video-1-5-pro (contract 4.4.1)', () => {
	const first = { url, role: 'first_frame' };
	table(VIDEOS, { model: 'alpha-video-1-5-pro', prompt: 'waves' }, [
		['defaults', {}],
		['4 seconds', { duration: 4 }],
		['12 seconds', { duration: 12 }],
		['3 seconds', { duration: 3 }, /^duration must be at least 4, not 3/],
		['13 seconds', { duration: 13 }, /^duration must be at most 12/],
		['a duration as text', { duration: 'abc' }, /^duration must be a number/],
		['21:9 at 480p with sound', { aspect_ratio: '21:9', metadata: { resolution: '480p', audio: true, other: 1 } }],
		['an unknown ratio', { aspect_ratio: '2:1' }, /^aspect_ratio must be one of/],
		['an unknown resolution', { metadata: { resolution: '4K' } }, /^metadata.resolution must be one of/],
		['three images', { image_urls: [url, url, url] }],
		['first and last frame', { image_with_roles: [first, { url, role: 'last_frame' }] }],
		['two first frames', { image_with_roles: [first, first] }, /at most one first_frame/],
		[
			'the role reference_image',
			{ image_with_roles: [{ url, role: 'reference_image' }] },
			/does not support reference_image/,
		],
		['both image fields', { image_urls: [url], image_with_roles: [first] }, /cannot be used together/],
		['an unknown asset', { image_urls: ['asset://nope'] }, /asset nope does not exist/],
		[
			'an image as data URI',
			{ image_with_roles: [{ url: 'data:image/png;base64,AA', role: 'first_frame' }] },
			/base64/,
		],
	]);
});

describe.each(['beta-v3-omni', 'beta-video-o1'])('%s (contract 4.4.2)', (model) => {
	const base = { video_url: video, refer_type: 'base', keep_original_sound: 'yes' };
	table(VIDEOS, { model, prompt: 'waves' }, [
		['defaults', {}],
		['10 seconds, pro', { duration: 10, mode: 'pro' }],
		['6 seconds', { duration: 6 }, /^duration must be 5 or 10/],
		['4:3', { aspect_ratio: '4:3' }, /^aspect_ratio/],
		['a reference to the second of two images', { prompt: '<<<image_2>>>', image_urls: [url, url] }],
		['a reference to the third of two', { prompt: '<<<image_3>>>', image_urls: [url, url] }],
		['an asset', { image_urls: ['asset://a'] }],
		['an asset as reference video', { video_list: [{ video_url: 'asset://a' }] }],
		['an unknown asset', { image_urls: ['asset://nope'] }, /asset nope does not exist/],
		['a base video with an image that the prompt does not name', { video_list: [base], image_urls: [url] }],
		['an empty entry of video_list', { video_list: [{}] }, /^video_list\[0\].video_url is required/],
		['metadata as text', { metadata: 'x' }, /^metadata must be an object/],
		['a base video', { video_list: [base] }],
		['a base video of 11 seconds', { video_list: [{ ...base, video_url: `${video}?seconds=11` }] }, /3 to 10 seconds/],
		['two videos', { video_list: [base, base] }, /at most 1 entry/],
		['an unknown refer_type', { video_list: [{ ...base, refer_type: 'x' }] }, /refer_type must be one of/],
		['a feature video with one image', { video_list: [{ ...base, refer_type: 'feature' }], image_urls: [url] }],
		[
			'a feature video with two images',
			{ video_list: [{ ...base, refer_type: 'feature' }], image_urls: [url, url] },
			/only one image/,
		],
		['sound', { audio: true }, model === 'beta-v3-omni' ? undefined : /^audio is only for beta-v3-omni/],
		['sound with a video', { audio: true, video_list: [base] }, /^audio/],
	]);

	test('a reference to the first image is put before a prompt that has none', async () => {
		const bench = new Bench();
		await bench.post(VIDEOS, { model, prompt: 'waves', image_urls: [url] });
		expect(bench.sandbox.tasks[0]?.effective.prompt).toBe('<<<image_1>>>waves');
	});
});

describe('beta-v3 (contract 4.4.3)', () => {
	table(VIDEOS, { model: 'beta-v3', prompt: 'waves' }, [
		['15 seconds', { duration: 15 }],
		['what was not seen so far', { duration: 7.5, mode: 'max', aspect_ratio: 1.5 }],
		['a prompt alone', {}],
		['an image alone', { prompt: undefined, image_urls: [url] }],
		['an image and an empty prompt', { prompt: '', image_urls: [url] }],
		['neither a prompt nor an image', { prompt: undefined }],
		['an empty prompt without an image', { prompt: ' ', image_urls: [] }],
		['an asset', { image_urls: ['asset://a'] }],
		['three images, of which two are used', { image_urls: [url, url, url] }],
		['base64', { image_urls: ['data:image/png;base64,AA'] }, /base64/],
	]);
});

describe('delta-2.6-flash (contract 4.4.4)', () => {
	const videos = { metadata: { reference_urls: [video] } };
	table(VIDEOS, { model: 'delta-2.6-flash', prompt: 'waves' }, [
		['one image', { image_urls: [url], resolution: 'any label', duration: 7, audio: true }],
		['reference videos', videos],
		['no prompt', { ...videos, prompt: undefined }],
		['a duration and a resolution that were not seen', { ...videos, duration: -1, resolution: '' }],
		['half a second', { ...videos, duration: 0.5 }, /^duration must be a whole number/],
		['an asset as reference video', { metadata: { reference_urls: ['asset://a'] } }],
		['a prompt alone', {}, /needs image_urls or metadata.reference_urls/],
		['an image and reference videos', { ...videos, image_urls: [url] }, /cannot be used together/],
		['two images', { image_urls: [url, url] }, /exactly 1 image/],
	]);
});

describe('alpha-video-2-0, of which no fields are shown (contract 4.4)', () => {
	table(VIDEOS, { model: 'alpha-video-2-0' }, [
		['neither a prompt nor an image', {}],
		['a prompt that is no text', { prompt: ['waves'] }],
		['a prompt that begins like a file', { prompt: 'data: waves, and more of them' }],
		['base64', { images: ['data:image/png;base64,AA'] }, /base64/],
		['an unknown asset somewhere', { content: [{ any: 'asset://nope' }] }, /asset nope does not exist/],
	]);
});

describe('a body that is no JSON object', () => {
	test.each(['{"model":', '[]', '"text"', ''])('the body %j is no JSON object, and is refused', async (payload) => {
		const bench = new Bench();
		const { statusCode } = await bench.sandbox.api.inject({
			method: 'POST',
			url: IMAGES,
			headers: { authorization: 'Bearer sandbox-key', 'content-type': 'application/json' },
			payload,
		});
		expect(statusCode).toBe(400);
	});
});
