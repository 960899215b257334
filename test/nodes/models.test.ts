import type { IDataObject } from 'n8n-workflow';
import { planRequest, refusalOf, type Kind } from '../support/form';

const A = 'https://example.com/a.png';
const V = 'https://example.com/a.mp4';
const DATA_URI = 'data:image/png;base64,iVBORw0KGgo=';
const BASE64 = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ'.repeat(4);

/** Rows of the Images list: addresses, or addresses with a role after a space. */
const images = (...rows: string[]) => ({
	images: { image: rows.map((row) => ({ url: row.split(' ')[0], role: row.split(' ')[1] ?? '' })) },
});
const referenceUrls = (...urls: string[]) => ({ referenceUrls: { video: urls.map((url) => ({ url })) } });
const referenceVideo = (type: string, url = V) => ({ referenceVideo: type, referenceVideoUrl: url });
const optional = (optionalFields: IDataObject) => ({ optionalFields });
const additional = (additionalFields: object) => ({ options: { additionalFields: JSON.stringify(additionalFields) } });

/** Without a refusal the parameters may be sent; with `sent`, the body holds this. */
type Row = [label: string, parameters: IDataObject, expected?: RegExp | { sent: IDataObject }];

/** One row per value. */
function each(label: string, values: unknown[], toParameters: (value: never) => IDataObject, expected?: (shown: string) => RegExp): Row[] {
	return values.map((value) => {
		const shown = typeof value === 'string' ? JSON.stringify(value) : String(value);
		return [`${label} ${shown}`, toParameters(value as never), expected?.(shown)];
	});
}

/** "<label> is <value>: <model> allows <allowed>" */
const allows = (field: string, allowed: string) => (shown: string) =>
	new RegExp(`^${field} is ${escape(shown)}: [a-z0-9.-]+ allows ${escape(allowed)}`);
const escape = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

function table(kind: Kind, model: string, base: IDataObject, rows: Row[]): void {
	describe(model, () => {
		const cases = rows.map(([label, parameters, expected]) => ({
			label,
			parameters: { model, ...base, ...parameters },
			expected,
		}));

		test.each(cases.filter(({ expected }) => !(expected instanceof RegExp)))('accepts $label', ({ parameters, expected }) => {
			const { body } = planRequest(kind, parameters);
			expect(body).toMatchObject({ model, ...(expected && 'sent' in expected ? expected.sent : {}) });
		});

		test.each(cases.filter(({ expected }) => expected instanceof RegExp))('refuses $label', ({ parameters, expected }) => {
			const refusal = refusalOf(kind, parameters);
			expect(refusal?.message).toMatch(expected as RegExp);
			expect(refusal?.description).toMatch(/Nothing was sent/);
			expect(`${refusal?.message} ${refusal?.description}`).not.toMatch(/error|problem|failure|mistake|undefined/i);
		});
	});
}

/** What holds for the prompt and the images of every model. */
const promptRows: Row[] = [
	...each('the prompt', ['', ' \n'], (prompt) => ({ prompt }), () => /^Prompt is empty$/),
	['a prompt that is not text', { prompt: [1] }, /^Prompt is \[1\]: .+ allows text/],
	['a missing prompt', { prompt: null }, /^Prompt is empty$/],
];

function imageRows(label: string, wire: string): Row[] {
	return [
		[`an image over https as ${label}`, images(A), { sent: { [wire]: [A] } }],
		[`an image over http as ${label}`, images('http://example.com/a.png')],
		[`a data URI as ${label}`, images(DATA_URI), new RegExp(`^${label} holds base64 data: .+ URLs only`)],
		[`bare base64 as ${label}`, images(BASE64), new RegExp(`^${label} holds base64 data`)],
		[`an empty row of ${label}`, images(''), new RegExp(`^${label} is empty$`)],
		[`another scheme in ${label}`, images('ftp://example.com/a.png'), new RegExp(`^${label} is "ftp://example.com/a.png", .+ http\\(s\\) URL`)],
		[`an address without a host in ${label}`, images('https:///a.png'), new RegExp(`^${label} is "https:///a.png"`)],
		[`a text instead of a list for ${label}`, additional({ [wire]: A }), new RegExp(`^${label} is "https.+ allows a list`)],
		[`base64 for ${label} in Additional Fields`, additional({ [wire]: [DATA_URI] }), new RegExp(`^${label} holds base64 data`)],
	];
}
const noAssets = (label: string, model: string): Row => [
	'an avatar asset',
	images('asset://pa_123'),
	new RegExp(`^${label} is the asset reference "asset://pa_123", which ${escape(model)} does not accept$`),
];

/** Contract 4.5: what is not in the list is unsupported at that resolution. */
const SIZES: Record<string, string[]> = {
	'1K': ['1:1', '3:2', '2:3'],
	'2K': ['1:1', '3:2', '2:3', '4:3', '3:4', '5:4', '4:5', '16:9', '9:16', '2:1', '1:2', '21:9', '9:21'],
	'4K': ['16:9', '9:16', '2:1', '1:2', '21:9', '9:21'],
};

table('image', 'gamma-image-2', { prompt: 'a' }, [
	['defaults', {}],
	...promptRows,
	...imageRows('Reference Images', 'reference_images'),
	noAssets('Reference Images', 'gamma-image-2'),
	['many references', images(...Array<string>(20).fill(A))],
	['the second of three references as base64', images(A, DATA_URI, A), /^Reference Images, image 2, holds base64 data/],
	['32000 characters', { prompt: 'x'.repeat(32_000) }],
	['32000 characters of two units each', { prompt: '😀'.repeat(32_000) }],
	['32001 characters', { prompt: 'x'.repeat(32_001) }, /^Prompt has 32001 characters: gamma-image-2 allows at most 32000$/],
	['32001 characters of two units each', { prompt: '😀'.repeat(32_001) }, /^Prompt has 32001 characters/],
	...Object.entries(SIZES).flatMap(([resolution, sizes]) => [
		...each(`at ${resolution} the size`, sizes, (size) => ({ resolution, size })),
		...each(
			`at ${resolution} the size`,
			[...SIZES['2K'], '7:5'].filter((size) => !sizes.includes(size)),
			(size) => ({ resolution, size }),
			(shown) => new RegExp(`^Size is ${shown}: gamma-image-2 allows [0-9:, ]+ at Resolution ${resolution}$`),
		),
	]),
	['an emptied size, which is then the default of the form', { resolution: '4K', size: '' }, { sent: { size: '16:9' } }],
	...each('the resolution', ['8K', '1k', 2], (resolution) => ({ resolution }), allows('Resolution', '1K, 2K, 4K')),
	...each('n', [1, 10, '4'], (n) => ({ n })),
	...each('n', [0, 1.5, -1, 'many', true], (n) => ({ n }), allows('Number of Images', 'whole numbers from 1')),
	['n that is no number', { n: NaN }, /^Number of Images is NaN: .+ allows whole numbers from 1/],
	['an unsupported size in Additional Fields', additional({ size: '16:9' }), /^Size is "16:9": .+ at Resolution 1K$/],
	['a resolution in Additional Fields that the size does not go with', additional({ resolution: '4K' }), /^Size is "1:1": .+ at Resolution 4K$/],
	['a resolution and its size in Additional Fields', additional({ resolution: '4K', size: '2:1' }), { sent: { resolution: '4K', size: '2:1' } }],
	['a long prompt in Additional Fields', additional({ prompt: 'x'.repeat(32_001) }), /^Prompt has 32001 characters/],
	['n of 0 in Additional Fields', additional({ n: 0 }), /^Number of Images is 0/],
	['n removed in Additional Fields', additional({ n: null }), /^Number of Images is null/],
	['unknown fields', additional({ seed: 42 }), { sent: { seed: 42 } }],
]);

table('video', 'alpha-video-1-5-pro', { prompt: 'a' }, [
	['defaults', {}],
	...promptRows,
	...imageRows('Images', 'image_urls'),
	...each('a duration of', [4, 5, 12, '12', ' 7 '], (duration) => ({ duration })),
	...each('a duration of', [3, 13, 4.5, 0, 'abc', '4.5', true], (duration) => ({ duration }), (shown) =>
		allows('Duration', 'whole numbers from 4 to 12 seconds')(shown.replace('"4.5"', '4.5')),
	),
	['a number given as text', { duration: '12' }, { sent: { duration: 12 } }],
	['an emptied duration: the default of the service', { duration: '' }],
	...each('the ratio', ['16:9', '9:16', '1:1', '4:3', '3:4', '21:9'], (aspectRatio) => ({ aspectRatio })),
	...each('the ratio', ['3:2', '16x9'], (aspectRatio) => ({ aspectRatio }), allows('Aspect Ratio', '1:1, 16:9, 21:9, 3:4, 4:3, 9:16')),
	...each('the resolution', ['480p', '720p', '1080p'], (videoResolution) => ({ videoResolution })),
	...each('the resolution', ['360p', '1080P'], (videoResolution) => ({ videoResolution }), allows('Resolution', '1080p, 480p, 720p')),
	...each('audio', [true, false, 'true'], (audio) => optional({ audio })),
	['audio given as text', optional({ audio: 'false' }), { sent: { metadata: { resolution: '720p', audio: false } } }],
	...each('audio', ['loud', 1], (audio) => optional({ audio }), allows('Audio', 'true or false')),
	['two images', images(A, A)],
	['three images', images(A, A, A), /^Images holds 3 entries, at most 2 allowed$/],
	['an avatar asset', images('asset://pa_123')],
	['an avatar asset with a role', images('asset://pa_123 last_frame')],
	['an asset reference without an ID', images('asset://'), /^Images is the asset reference "asset:\/\/"/],
	['a first and a last frame by role', images(`${A} first_frame`, `${A} last_frame`)],
	['only a last frame', images(`${A} last_frame`)],
	['two first frames', images(`${A} first_frame`, `${A} first_frame`), /^Images uses the role first_frame more than once$/],
	['two last frames', images(`${A} last_frame`, `${A} last_frame`), /^Images uses the role last_frame more than once$/],
	['three images with roles', images(`${A} first_frame`, `${A} last_frame`, `${A} last_frame`), /^Images holds 3 entries, at most 2 allowed$/],
	['the role reference_image', images(`${A} reference_image`), /^Images uses the role "reference_image": .+ allows first_frame, last_frame$/],
	['base64 with a role', images(`${DATA_URI} first_frame`), /^Images holds base64 data/],
	['one image with a role and one without', images(`${A} first_frame`, A), /^Images \(image_urls\) and Images \(image_with_roles\) cannot be used together$/],
	['roles in Additional Fields next to images', { ...images(A), ...additional({ image_with_roles: [{ url: A, role: 'last_frame' }] }) }, /cannot be used together$/],
	['a role without a URL in Additional Fields', additional({ image_with_roles: [{ role: 'first_frame' }] }), /^Images is empty$/],
	['a bad role in Additional Fields', additional({ image_with_roles: [{ url: A, role: 'middle' }] }), /^Images uses the role "middle"/],
	['roles that are no list', additional({ image_with_roles: { url: A } }), /^Images is \{"url".+ allows a list/],
	['a duration of 13 in Additional Fields', additional({ duration: 13 }), /^Duration is 13/],
	['a resolution out of range in Additional Fields', additional({ metadata: { resolution: '4k' } }), /^Resolution is "4k"/],
	['metadata that is no object', additional({ metadata: 'x' }), /^metadata is "x": alpha-video-1-5-pro takes an object$/],
]);

/** Contract 4.4.2, for both of its models. */
const omniRows: Row[] = [
	['defaults', {}],
	...promptRows,
	...imageRows('Images', 'image_urls'),
	...each('a duration of', [5, 10], (duration) => ({ duration })),
	['a number given as text', { duration: '10' }, { sent: { duration: 10 } }],
	...each('a duration of', [7, 4, 6, 11, 15, 'abc'], (duration) => ({ duration }), allows('Duration', '5, 10')),
	...each('the mode', ['std', 'pro'], (mode) => ({ mode })),
	...each('the mode', ['fast'], (mode) => ({ mode }), allows('Mode', 'pro, std')),
	...each('the ratio', ['16:9', '9:16', '1:1'], (aspectRatio) => ({ aspectRatio })),
	...each('the ratio', ['4:3', '21:9'], (aspectRatio) => ({ aspectRatio }), allows('Aspect Ratio', '1:1, 16:9, 9:16')),
	['many images', images(A, A, A, A, A)],
	['<<<image_2>>> with two images', { prompt: '<<<image_2>>> a', ...images(A, A) }],
	['<<<image_3>>> with two images', { prompt: 'a <<<image_3>>>', ...images(A, A) }, /^Prompt refers to <<<image_3>>>, but there are 2 images$/],
	['<<<image_2>>> with one image', { prompt: '<<<image_2>>>', ...images(A) }, /^Prompt refers to <<<image_2>>>, but there is 1 image$/],
	['<<<image_0>>>', { prompt: '<<<image_1>>> <<<image_0>>>', ...images(A) }, /^Prompt refers to <<<image_0>>>, but there is 1 image$/],
	['<<<image_1>>> without an image', { prompt: '<<<image_1>>>' }, /^Prompt refers to <<<image_1>>>, but there are 0 images$/],
	['a reference video of an unknown kind', referenceVideo('style'), /^Reference Video is "style": .+ allows none, base, feature/],
	...each('a reference video without an address', ['base', 'feature'], (type) => referenceVideo(type, ''), () => /^Reference Video URL is empty$/),
	...each('a reference video at', [DATA_URI, 'asset://pa_123', 'clip.mp4'], (url) => referenceVideo('base', url), () => /^Reference Video URL holds ".+, which is not an http\(s\) URL$/),
	...each('a reference video', ['base', 'feature'], (type) => referenceVideo(type)),
	['feature with one image', { ...images(A), ...referenceVideo('feature') }],
	['feature with two images', { ...images(A, A), ...referenceVideo('feature') }, /^Images holds 2 entries, at most 1 allowed$/],
	['base with images that the prompt names', { prompt: '<<<image_1>>> and <<<image_2>>>', ...images(A, A), ...referenceVideo('base') }],
	['base with an image that the prompt does not name', { ...images(A), ...referenceVideo('base') }, /^Images, image 1, would be a frame/],
	['base with a second image that the prompt does not name', { prompt: '<<<image_1>>>', ...images(A, A), ...referenceVideo('base') }, /^Images, image 2, would be a frame/],
	...each('keep_original_sound', ['yes', 'no', 'original'], (keepOriginalSound) => ({ ...referenceVideo('base'), ...optional({ keepOriginalSound }) })),
	['keep_original_sound that is not text', { ...referenceVideo('base'), ...optional({ keepOriginalSound: true }) }, /^Keep Original Sound is true: .+ allows text/],
	['a duration of 7 in Additional Fields', additional({ duration: 7 }), /^Duration is 7/],
	['a duration of 7 in Additional Fields, next to base', { ...referenceVideo('base'), ...additional({ duration: 7 }) }, /^Duration is 7/],
	['two reference videos in Additional Fields', additional({ video_list: [{ video_url: V }, { video_url: V }] }), /^Reference Video holds 2 entries, at most 1 allowed$/],
	['a reference video as base64 in Additional Fields', additional({ video_list: [{ video_url: DATA_URI }] }), /^Reference Video URL holds "data:/],
	['reference videos that are no list', additional({ video_list: { video_url: V } }), /^video_list is \{.+ takes a list$/],
	['a reference video that is no object', additional({ video_list: [V] }), /^video_list.0 is "https.+ takes an object$/],
	['no reference video, as an empty list', additional({ video_list: [] })],
	['two images in Additional Fields, next to feature', { ...referenceVideo('feature'), ...additional({ image_urls: [A, A] }) }, /^Images holds 2 entries/],
];

table('video', 'beta-v3-omni', { prompt: 'a' }, [
	...omniRows,
	noAssets('Images', 'beta-v3-omni'),
	...each('audio', [true, false, 'true', 'false'], (audio) => ({ audio })),
	...each('audio', ['loud', 1], (audio) => ({ audio }), allows('Audio', 'true or false')),
	['audio with images', { audio: true, ...images(A) }],
	...each('audio with a reference video', ['base', 'feature'], (type) => ({ audio: true, ...referenceVideo(type) }), () => /^Audio and Reference Video cannot be used together$/),
	['audio in Additional Fields, next to a reference video', { ...referenceVideo('base'), ...additional({ audio: true }) }, /^Audio and Reference Video cannot/],
	['audio turned off next to a reference video', { audio: false, ...referenceVideo('base') }],
]);

table('video', 'beta-video-o1', { prompt: 'a' }, [
	...omniRows,
	noAssets('Images', 'beta-video-o1'),
	...each('audio in Additional Fields', [true, false], (audio) => additional({ audio }), () => /^Audio \(audio\) is not possible with beta-video-o1$/),
]);

table('video', 'beta-v3', { prompt: 'a' }, [
	['defaults', {}],
	...promptRows,
	...imageRows('Images', 'image_urls'),
	noAssets('Images', 'beta-v3'),
	['two images', images(A, A)],
	['three images', images(A, A, A), /^Images holds 3 entries, at most 2 allowed$/],
	...each('a duration of', [1, 5, 7, 15, 60], (duration) => optional({ duration })),
	['a number given as text', optional({ duration: '15' }), { sent: { duration: 15 } }],
	...each('a duration of', [0, 4.5, 'abc'], (duration) => optional({ duration }), allows('Duration', 'whole numbers from 1 (seconds)')),
	...each('the mode', ['std', 'pro'], (mode) => optional({ mode })),
	...each('the mode', ['fast'], (mode) => optional({ mode }), allows('Mode', 'pro, std')),
	...each('the ratio', ['16:9', '4:3', '5:7'], (aspectRatio) => optional({ aspectRatio })),
	['a ratio that is not text', optional({ aspectRatio: 1.5 }), /^Aspect Ratio is 1.5: beta-v3 allows text/],
	['three images in Additional Fields', additional({ image_urls: [A, A, A] }), /^Images holds 3 entries/],
]);

table('video', 'delta-2.6-flash', { prompt: 'a', ...images(A) }, [
	['one image', {}],
	...promptRows,
	...imageRows('Images', 'image_urls'),
	noAssets('Images', 'delta-2.6-flash'),
	['neither image nor reference videos', { images: {} }, /^One of Images and Reference Video URLs is needed$/],
	['an image and reference videos', referenceUrls(V), /^Images and Reference Video URLs cannot be used together$/],
	['two images', images(A, A), /^Images holds 2 entries, at most 1 allowed$/],
	['several reference videos', { images: {}, ...referenceUrls(V, 'http://example.com/b.mp4') }],
	...each('a reference video at', [DATA_URI, 'asset://pa_123', ''], (url) => ({ images: {}, ...referenceUrls(V, url) }), () => /^Reference Video URLs holds ".*", which is not an http\(s\) URL$/),
	['reference videos from Additional Fields', { images: {}, ...additional({ metadata: { reference_urls: [V] } }) }],
	['reference videos from Additional Fields next to an image', additional({ metadata: { reference_urls: [V] } }), /cannot be used together$/],
	['reference videos that are no list', { images: {}, ...additional({ metadata: { reference_urls: V } }) }, /^Reference Video URLs is "https.+ allows a list/],
	...each('the resolution', ['1080p', '720p', '4K'], (resolution) => optional({ resolution })),
	['a resolution that is not text', optional({ resolution: 1080 }), /^Resolution is 1080: delta-2.6-flash allows text/],
	...each('a duration of', [1, 5, 60, '8'], (duration) => optional({ duration })),
	...each('a duration of', [0, 2.5, 'abc'], (duration) => optional({ duration }), allows('Duration', 'whole numbers from 1 (seconds)')),
	...each('audio', [true, false], (audio) => optional({ audio })),
	...each('audio', ['loud'], (audio) => optional({ audio }), allows('Audio', 'true or false')),
]);

describe('Custom Model', () => {
	const custom = { model: 'custom', customModelId: 'alpha-video-2-0', customBody: '{}' };

	test('takes any body, avatar assets included', () => {
		const customBody = { prompt: '', duration: 99, content: ['asset://pa_123'] };
		expect(planRequest('video', { ...custom, customBody }).body).toEqual({ model: 'alpha-video-2-0', ...customBody });
	});

	test.each([
		['no model ID', { customModelId: ' ' }, /^Model ID is empty$/],
		['a body that is no JSON', { customBody: '{prompt}' }, /^Body \(JSON\) does not hold valid JSON$/],
		['a body that is a list', { customBody: '[]' }, /^Body \(JSON\) must hold a JSON object$/],
		['Additional Fields that are no JSON', { options: { additionalFields: '{' } }, /^Additional Fields \(JSON\) does not hold valid JSON$/],
	])('refuses %s', (_label, parameters, message) => {
		expect(refusalOf('video', { ...custom, ...parameters })?.message).toMatch(message);
	});
});

/** Every field of every video model, filled: what is left when models were tried one after the other. */
const LEFTOVERS = {
	prompt: 'a',
	mode: 'pro',
	duration: 10,
	aspectRatio: '9:16',
	videoResolution: '1080p',
	...images(A),
	...referenceVideo('feature'),
	audio: 'false',
	customModelId: 'alpha-video-2-0',
	customBody: '{ "seed": 1 }',
};

describe('values of another model are not sent', () => {
	const omni = {
		prompt: 'a',
		mode: 'pro',
		duration: 10,
		aspect_ratio: '9:16',
		image_urls: [A],
		video_list: [{ video_url: V, refer_type: 'feature' }],
	};
	const cases = [
		{ model: 'alpha-video-1-5-pro', sent: { prompt: 'a', duration: 10, aspect_ratio: '9:16', image_urls: [A], metadata: { resolution: '1080p' } }, unused: ['Mode', 'Reference Video', 'Reference Video URL'] },
		{ model: 'beta-v3-omni', sent: omni, unused: ['Resolution'] },
		{ model: 'beta-video-o1', sent: omni, unused: ['Resolution', 'Audio'] },
		{ model: 'beta-v3', sent: { prompt: 'a', image_urls: [A] }, unused: ['Resolution', 'Reference Video', 'Reference Video URL', 'Audio'] },
		{ model: 'delta-2.6-flash', sent: { prompt: 'a', image_urls: [A] }, unused: ['Aspect Ratio', 'Resolution', 'Mode', 'Reference Video', 'Reference Video URL'] },
	];

	test.each(cases)('to $model, and the user is told', ({ model, sent, unused }) => {
		const shownForAll = planRequest('video', { ...LEFTOVERS, model }, true);
		expect(shownForAll.body).toEqual({ model, ...sent });
		expect(shownForAll.unused).toEqual(expect.arrayContaining(unused));
		expect(planRequest('video', { ...LEFTOVERS, model }).body).toEqual({ model, ...sent });
	});

	test('to a custom model', () => {
		expect(planRequest('video', { ...LEFTOVERS, model: 'custom' }, true).body).toEqual({ model: 'alpha-video-2-0', seed: 1 });
	});

	test.each([
		['a size of another resolution is refused, not sent', 'image', { prompt: 'a', resolution: '1K', size: '16:9' }, undefined],
		['a duration set before Base was chosen', 'video', { model: 'beta-v3-omni', prompt: 'a', duration: 10, ...referenceVideo('base') }, 'duration'],
		['a reference video address after None was chosen', 'video', { model: 'beta-v3-omni', prompt: 'a', ...referenceVideo('none') }, 'video_list'],
		['optional fields of another model', 'video', { model: 'beta-v3', prompt: 'a', ...optional({ resolution: '1080p', keepOriginalSound: 'yes' }) }, 'resolution'],
	] as const)('%s', (_label, kind, parameters, absent) => {
		if (absent === undefined) expect(refusalOf(kind, parameters)?.message).toMatch(/^Size is "16:9"/);
		else expect(planRequest(kind, parameters, true).body).not.toHaveProperty(absent);
	});
});

test('an unknown model is named, with what there is', () => {
	const refusal = refusalOf('video', { model: 'epsilon', prompt: 'a' });
	expect(refusal?.message).toBe('Model is "epsilon", which this node does not know');
	expect(refusal?.description).toMatch(/alpha-video-1-5-pro, beta-v3-omni, beta-video-o1, beta-v3, delta-2\.6-flash, or Custom Model/);
});
