/** The results of records: at the places where gateways put them, anywhere else, and at a Result Path. */
import { parseJson, setPath } from '../../core/json';
import { locateResult, urlsOfRequest } from '../../core/records/locateResult';
import { appendName, valuesAtPath } from '../../core/records/resultPath';
import { parseTaskRecord } from '../../core/records/taskRecord';
import { costOf, parsingMs } from '../support/hostile.mts';

const U = 'https://files.example/r.mp4';
const V = 'https://files.example/s.mp4';
const W = 'https://files.example/t.mp4';

/** Names of inputs that a record repeats. */
const INPUTS = [
	...['image_urls', 'imageUrls', 'Image Urls', 'reference_images', 'reference_urls', 'image_with_roles'],
	...['video_list', 'source_url', 'input', 'inputs', 'request', 'params', 'parameters'],
	...['reference_image', 'input_image', 'inputUrls', 'source_image'],
];

/** As an answer comes in: through JSON. */
function recordOf(fields: object | string, status = 'completed') {
	const json = typeof fields === 'string' ? fields : JSON.stringify(fields);
	return parseTaskRecord(parseJson(`{"id":"x","status":"${status}",${json.slice(1)}`))!;
}

describe('a URL that stands anywhere is found, and its place reads back', () => {
	test.each<[object | string, string, string[]?]>([
		[{ content: { video_url: U } }, 'content.video_url'],
		[{ results: [{ url: U }] }, 'results.url'],
		[{ results: [{ url: U }, { url: V }, { url: U }] }, 'results.url', [U, V]],
		[{ image_url: U }, 'image_url'],
		[{ result: { video: { url: U } } }, 'result.video.url'],
		[{ a: [[[{ b: [[U], [V]] }]]] }, 'a.b', [U, V]],
		[{ 'a.b': { 'c d': U } }, '["a.b"]["c d"]'],
		[{ files: { '0': U } }, 'files["0"]'],
		[{ files: [{ '0': U }] }, 'files["0"]'],
		[{ '': { '<b>"\\': U } }, '[""]["\\u003cb\\u003e\\"\\\\"]'],
		[{ größe: { $: U } }, 'größe.$'],
		[{ $a1: { 'b-c': { 'd:': { '9a': U } } } }, '$a1.b-c["d:"]["9a"]'],
		[{ 'a\u007f&\u2029': U }, '["a\\u007f\\u0026\\u2029"]'],
		['{"a":{"constructor":"https://files.example/r.mp4"}}', 'a.constructor'],
		// two places with the same URL: there is nothing to guess
		[{ a: { link: U }, b: [U, U] }, 'a.link'],
		// beside what is none
		[
			{
				content: {
					video_url: U,
					thumbnail_url: V,
					cover_image: V,
					poster: [V],
					previewUrl: V,
					first_frame: V,
					lastFrameUrl: { url: V },
				},
			},
			'content.video_url',
		],
		[
			{ content: { video_url: U }, discovery: 'see https://files.example', text: `${V} is not a URL as a whole` },
			'content.video_url',
		],
	])('the result of %j is found at %s', (fields, place, urls = [U]) => {
		const record = recordOf(fields);
		expect(locateResult(record)).toEqual({ urls, foundAt: place });
		expect(locateResult(record, place)).toEqual({ urls });
		expect(locateResult(parseTaskRecord({ success: true, data: record.raw })!)).toEqual({ urls, foundAt: place });
	});

	test.each([
		...INPUTS,
		...['callback_url', 'Callback - URL', 'webhook_url', 'h5_link', 'docs', 'help', 'error', 'errors'],
		...['thumbnail', 'thumbnail_url', 'cover', 'cover_image', 'coverurl', 'video_cover', 'poster', 'previewUrl'],
		...['first_frame', 'lastFrame'],
		// Its place would make a hint of megabytes.
		'x'.repeat(10_001),
	])('no URL is found below %s', (name) => {
		for (const value of [V, [V], { url: V }, { a: [{ b: V }] }]) {
			expect(locateResult(recordOf({ deep: { [name]: value } }))).toEqual({ urls: [], isInline: false });
			const beside = recordOf({ [name]: value, content: { video_url: U } });
			expect(locateResult(beside)).toEqual({ urls: [U], foundAt: 'content.video_url' });
		}
	});

	test.each<[object, string[]]>([
		[{ a: { link: U }, b: [{ url: V }, { url: W }] }, ['a.link', 'b.url']],
		[{ entry: [{ video: U, audio: V }] }, ['entry.video', 'entry.audio']],
		[{ a: U, b: [U, V] }, ['a', 'b']],
		[{ a: [U, V], b: [U, W] }, ['a', 'b']],
		[{ a: U, b: U, c: V }, ['a', 'b', 'c']],
	])('two places are no guess: of %j, %j are named', (fields, choices) => {
		expect(locateResult(recordOf(fields))).toEqual({ urls: [], choices });
	});

	test.each(['queued', 'running', 'failed'])(
		'a URL that stands anywhere is found only in a completed record, not in one that is %s',
		(status) => {
			expect(locateResult(recordOf({ content: { video_url: U } }, status)).urls).toEqual([]);
		},
	);

	test('the places of URLs that are known come first', () => {
		expect(locateResult(recordOf({ content: { video_url: U }, video_url: V }))).toEqual({ urls: [V] });
	});

	test('a file in the record itself is a result, whatever URL stands beside it', () => {
		const isInlineWith = (b64_json: unknown) =>
			locateResult(recordOf({ more: { at: U }, made: [{ b64_json }] })).isInline === true;
		expect(['AAAA', '', 5, null, ['AAAA']].map(isInlineWith)).toEqual([true, false, false, false, false]);
	});

	test('so is a data URI, where no URL is', () => {
		const FILE = 'data:image/png;base64,iVBORw0KGgo=';
		for (const fields of [{ data: [{ url: FILE }] }, { images: [FILE] }, { odd: { place: FILE } }])
			expect(locateResult(recordOf(fields), '', undefined, { baseUrl: 'https://gateway.example' })).toEqual({
				...{ urls: [], isInline: false, hasDataUri: true },
			});
		expect(locateResult(recordOf({ odd: { placeholder: FILE, place: U } })).urls).toEqual([U]);
		// The only URL is that of an input, too: beside nothing better, it counts.
		expect(locateResult(recordOf({ placeholder: FILE, place: U, input: { image_url: U } })).urls).toEqual([U]);
		for (const fields of [{ input: { image: FILE } }, { thumbnail: FILE }, { url: 'data:text/plain,queued' }])
			expect(locateResult(recordOf(fields)).hasDataUri).toBeUndefined();
		const at = (path: string) => locateResult(recordOf({ made: FILE, other: 'x' }), path).hasDataUri;
		expect(['made', 'other', 'none'].map(at)).toEqual([true, undefined, undefined]);
	});
});

describe('a record is searched where gateways put their results, without a word about the place', () => {
	const paths = [
		...['result.data', 'result.urls', 'result.url', 'result.video_url', 'result.image_url', 'result.images'],
		...['result.videos', 'data', 'url', 'urls', 'video_url', 'output', 'outputs', 'images', 'videos', 'result_url'],
		...['result_urls', 'result', 'metadata.result_urls', 'metadata.result_url', 'metadata.urls', 'metadata.url'],
		...['metadata.video_url', 'metadata.output', 'metadata.outputs', 'metadata.result'],
	];

	test.each(paths)('a URL at %s is the result, whatever other URL there is', (path) => {
		const fields = path.startsWith('result.') ? { data: V } : {};
		setPath(fields, path, [U]);
		expect(locateResult(recordOf({ ...fields, page: V }))).toEqual({ urls: [U] });
	});

	test('while a task runs, a URL that its record also has as an input is no result', () => {
		const running = recordOf({ image_urls: [U], url: U }, 'running');
		expect(locateResult(running).urls).toEqual([]);
		expect(locateResult(running, 'url').urls).toEqual([]);
		expect(locateResult(recordOf({ image_urls: [U], url: U })).urls).toEqual([U]);
		expect(locateResult(recordOf({ image_urls: [U], url: U, urls: [[V]] }, 'running')).urls).toEqual([V]);
	});
});

describe('what the request contained is no result', () => {
	const sent = urlsOfRequest({
		prompt: `as in ${V}, please`,
		images: [{ url: 'https://Example.com/a b.png' }],
		metadata: { list: [W] },
	});

	test.each([V, W, 'https://Example.com/a b.png', 'https://example.com/a%20b.png'])(
		'%s is no result where the request contained it',
		(url) => {
			const repeated = { source: url, content: { video_url: U } };
			expect(locateResult(recordOf(repeated), '', sent).urls).toEqual([U]);
			expect(locateResult(recordOf({ source: url }), '', sent).urls).toEqual([]);
			expect(locateResult(recordOf({ images: [url], content: { video_url: U } }), '', sent).urls).toEqual([U]);
		},
	);

	test.each<[unknown, string[]]>([
		[' https://Example.com/a b.png ', ['https://example.com/a%20b.png', 'https://example.com/a']],
		[`${U}`, [U]],
		[{ a: [{ b: `(${U})., "${V}"<${W}>'HTTP://X.example'!` }] }, [`${U}).,`, U, V, W, 'http://x.example/']],
		[`${U}?!;:}]`, [`${U}?!;:}]`, U]],
		[{ a: 1, b: null, c: 'https://' }, []],
	])('the URLs of the request %j are %j', (body, urls) => {
		expect([...urlsOfRequest(typeof body === 'string' ? { prompt: body } : body)].sort()).toEqual([...urls].sort());
	});

	test('a prompt with a long row of dots behind a URL is read in time', async () => {
		const dots = '.'.repeat(300_000);
		const { result, cpuSeconds } = await costOf(
			async () =>
				await Promise.resolve([`${U}${dots}x`, `${U}${dots}`].map((prompt) => urlsOfRequest({ prompt }).has(U))),
		);
		expect(result).toEqual([false, true]);
		expect(cpuSeconds * 1000).toBeLessThan(100 * parsingMs());
	});

	test('what the request contained is a result where the user names nothing but that', () => {
		expect(locateResult(recordOf({ files: [V, U] }), 'files', sent).urls).toEqual([U]);
		expect(locateResult(recordOf({ files: [V] }), 'files', sent).urls).toEqual([V]);
	});
});

describe('Result Path', () => {
	const record = {
		content: { video_url: U },
		url: V,
		results: [{ url: U }, { url: V, files: [W] }],
		thumbnail: { url: W },
		many: [...Array(10).fill(U), W] as string[],
		lists: [[{ '2nd': U, v2: V }, { '0': W }]],
		"it's": { url: U },
		'"': { url: V },
		'\\q': { url: W },
	};

	test.each<[string, string[]]>([
		['content.video_url', [U]],
		['results.url', [U, V]],
		['results', [U, V]],
		['results.1.url', [V]],
		['results[1].url', [V]],
		['results[].url', [U, V]],
		['results[1]["files"][0]', [W]],
		["['results'][1]['url']", [V]],
		['results.files.0', [W]],
		[' content . video_url ', [U]],
		['[ "content" ][ \'video_url\' ]', [U]],
		['content["video_url]', []],
		['many.10', [W]],
		['many["10"]', []],
		['lists.2nd', [U]],
		['lists[0].v2', [V]],
		["['it\\'s'].url", [U]],
		["['\"'].url", [V]],
		['["\\q"].url', [W]],
		['["\\\\q"].url', [W]],
		['thumbnail.url', [W]],
		['content.image_url', []],
		['constructor', []],
		['__proto__', []],
		['content.video_url.length', []],
		['[', []],
	])('the Result Path %s finds %j', (path, urls) => {
		expect(locateResult(recordOf(record), path).urls).toEqual(urls);
	});

	test.each<[string, string[]]>([
		['https://files.example/my video.mp4', ['https://files.example/my%20video.mp4']],
		[' https://files.example/a.mp4\r\n', ['https://files.example/a.mp4']],
		['https://files.example/a.mp4 https://files.example/b.mp4', []],
		['https://files.example/a.mp4\nhttps://files.example/b.mp4', []],
		['see https://files.example/a.mp4', []],
		['ftp://files.example/my video.mp4', []],
	])('an address with spaces is found where results are, or where Result Path leads: %j', (url, urls) => {
		expect(locateResult(recordOf({ url })).urls).toEqual(urls);
		expect(locateResult(recordOf({ result: { data: [{ url }] } })).urls).toEqual(urls);
		expect(locateResult(recordOf({ deep: { link: url } }), 'deep.link').urls).toEqual(urls);
	});

	test('Result Path has the last word over the places that are known, and does not fall back to them', () => {
		expect(locateResult(recordOf({ url: V, content: { video_url: U } }), 'content.video_url')).toEqual({ urls: [U] });
		expect(locateResult(recordOf({ url: V }), 'content.video_url')).toEqual({ urls: [], isInline: false });
	});

	test('a name that would read as something else in a Result Path reads back', () => {
		for (const name of ['a', 'a.b', '0', '', '[]', '"', "'", '\\', ' a ', 'a]', '\n', '<i>', '__proto__', '名前']) {
			expect(valuesAtPath(JSON.parse(`{"x":[{${JSON.stringify(name)}:1}]}`), appendName('x', name))).toEqual([1]);
		}
	});
});

describe('one URL beside a list that it is of', () => {
	const X = 'https://files.example/x.mp4';

	test.each<[object, string[]]>([
		[{ url: U, images: [U, V, W, X] }, [U, V, W, X]],
		[{ url: V, outputs: [{ url: U }, { url: V }] }, [U, V]],
		[{ url: U, images: [U, V], metadata: { urls: [U, V, W] } }, [U, V, W]],
		[{ url: U, images: [V, W] }, [U]], // another list
		[{ url: U, images: [U, U] }, [U]], // no longer
		[{ result: { data: [{ url: U }, { url: V }] }, images: [U, W, X] }, [U, V]],
	])('a list counts where one URL of it stands beside it: %j gives %j', (fields, urls) => {
		expect(locateResult(recordOf(fields))).toEqual({ urls });
	});
});

describe('a relative result', () => {
	const baseUrl = 'https://gateway.example';

	test.each<[string, string | undefined]>([
		['/v1/videos/task_1/content', 'https://gateway.example/v1/videos/task_1/content'],
		['//files.example/r.mp4?x=1', 'https://files.example/r.mp4?x=1'],
		['files/r.mp4', 'https://gateway.example/files/r.mp4'],
		['videos/task_1/content', 'https://gateway.example/videos/task_1/content'],
		[' /files/r.mp4\n', 'https://gateway.example/files/r.mp4'],
		['done', undefined],
		['video/mp4', undefined],
		['/', undefined],
		['/two words', undefined],
		['/\\other.example/r.mp4', undefined],
		['data:image/png;base64,AAAA', undefined],
		[`/9j/${'4AAQ'.repeat(20)}`, undefined], // a JPEG in base64
		[`/${'a'.repeat(3000)}`, undefined],
	])('is read against the Base URL: %j is %j', (given, url) => {
		const urls = url === undefined ? [] : [url];
		const facts = { baseUrl };
		expect(locateResult(recordOf({ url: given }), '', undefined, facts).urls).toEqual(urls);
		expect(locateResult(recordOf({ result: { data: [{ url: given }] } }), '', undefined, facts).urls).toEqual(urls);
		expect(locateResult(recordOf({ deep: { link: given } }), 'deep.link', undefined, facts).urls).toEqual(urls);
		expect(locateResult(recordOf({ url: given })).urls).toEqual([]);
	});

	test('at a Result Path, any path is meant as one, also without a slash before it and an extension behind it', () => {
		const facts = { baseUrl };
		expect(locateResult(recordOf({ odd: { place: 'files/y' } }), 'odd.place', undefined, facts).urls).toEqual([
			`${baseUrl}/files/y`,
		]);
	});

	test('the API is behind a path of the Base URL, and all else at its host', () => {
		const at = (url: string) =>
			locateResult(recordOf({ url }), '', undefined, { baseUrl: 'https://proxy.example/gateway' }).urls;
		expect(at('/v1/videos/7/content')).toEqual(['https://proxy.example/gateway/v1/videos/7/content']);
		expect(at('/gateway/v1/videos/7/content')).toEqual(['https://proxy.example/gateway/v1/videos/7/content']);
		expect(at('/files/r.mp4')).toEqual(['https://proxy.example/files/r.mp4']);
	});

	test.each([
		['/files/r.mp4', true],
		['/v1/videos/7/content', true],
		['/v1/videos/generations/7', false],
	])('at a place that is not known, %s is a result: %s', (given, isResult) => {
		const { urls, foundAt } = locateResult(recordOf({ content: { link: given } }), '', undefined, { baseUrl });
		expect([urls, foundAt]).toEqual(isResult ? [[baseUrl + given], 'content.link'] : [[], undefined]);
	});
});

describe('files of another kind than the task’s are not its result', () => {
	const P = 'https://files.example/poster.png';
	const [NAMELESS, OTHER] = ['https://files.example/1', 'https://files.example/2'];

	test.each<['image' | 'video', object, string[]]>([
		['video', { result: { images: [P], videos: [U] } }, [U]],
		['video', { result: { images: [NAMELESS], videos: [OTHER] } }, [OTHER]],
		['video', { url: P, video_url: U }, [U]],
		['video', { data: [{ url: P }, { url: U }] }, [U]],
		['video', { content: { video: U, image: P, audio: 'https://files.example/a.mp3' } }, [U]],
		['image', { result: { videos: [U], images: [P] } }, [P]],
		['image', { video_url: P }, [P]], // by its extension
		['video', { images: [NAMELESS], url: NAMELESS }, [NAMELESS]], // also at a place that says nothing
		['video', { images: [P] }, [P]], // nothing else is there
		['image', { output: U }, [U]],
	])('the result of a task for an %s with %j is %j', (kind, fields, urls) => {
		expect(locateResult(recordOf(fields), '', undefined, { kind }).urls).toEqual(urls);
		expect(locateResult(recordOf(fields), '', undefined, { kind }).missing).toBeUndefined();
	});

	test('while a task runs, a poster is no result', () => {
		expect(locateResult(recordOf({ images: [P] }, 'running'), '', undefined, { kind: 'video' }).urls).toEqual([]);
	});
});

test.each<[object, string[]]>([
	[{ images: [V], input: { image_urls: [V] }, output: { video: U } }, [U]],
	[{ images: [V], request: { image: V }, content: { video_url: U } }, [U]],
	[{ urls: [V, U], image_urls: [V] }, [U]],
	[{ url: V, request: { save_to: V } }, [V]],
])('an input that a completed record repeats is a result only where nothing else is: %j gives %j', (fields, urls) => {
	expect(locateResult(recordOf(fields)).urls).toEqual(urls);
});

describe('a part of a result', () => {
	const error = { code: 'content_policy_violation', message: 'It was declined' };

	test.each<[object, number | undefined, string?]>([
		[{ data: [{ url: U }, { url: V }, { error }] }, 1, 'It was declined'],
		[
			{ data: [{ url: U }, { url: null, error: 'It was declined' }, { fail_reason: 'Too busy' }] },
			2,
			'It was declined; Too busy',
		],
		[{ data: [{ url: U }, { status: 'failed' }] }, 1, 'failed'],
		[{ data: [{ url: U }, { url: '', finish_reason: 'CONTENT_FILTERED' }] }, 1, 'CONTENT_FILTERED'],
		[{ images: [U, null, ''] }, 2],
		[{ images: [U, 'It was declined'] }, 1, 'It was declined'],
		[{ results: [{ url: U }, { error }] }, 1, 'It was declined'],
		[{ data: [{ url: U }, { url: U }] }, undefined],
		[{ output: [U, { type: 'text', text: 'Two cats' }] }, undefined],
		[{ data: [{ url: U }, { b64_json: 'iVBORw0KGgo'.repeat(20) }] }, undefined],
		[{ url: U, logs: [{ message: 'begun' }, { message: 'ended', link: U }] }, undefined],
	])('is told, with the reason: of %j, %j are missing: %s', (fields, count = undefined, reason = undefined) => {
		const missing = count === undefined ? undefined : { count, ...(reason === undefined ? {} : { reason }) };
		expect(locateResult(recordOf(fields)).missing).toEqual(missing);
	});

	test('Result Path tells it, too, unless it takes one entry', () => {
		const record = recordOf({ parts: [{ at: U }, { error }] });
		expect(locateResult(record, 'parts.at')).toEqual({ urls: [U], missing: { count: 1, reason: 'It was declined' } });
		expect(locateResult(record, 'parts[].at').missing?.count).toBe(1);
		expect(locateResult(record, 'parts[0].at')).toEqual({ urls: [U] });
	});

	test('while the task runs, what is not there yet is not missing', () => {
		expect(locateResult(recordOf({ data: [{ url: U }, {}] }, 'running'))).not.toHaveProperty('missing');
	});
});

describe('records of any size', () => {
	test('a URL within 1000 levels is found, and none below', () => {
		const nested = (levels: number) => recordOf(`{"odd":${'{"a":'.repeat(levels)}"${U}"${'}'.repeat(levels)}}`);
		expect(locateResult(nested(999)).urls).toEqual([U]);
		expect(locateResult(nested(1000)).urls).toEqual([]);
	});

	// An answer of more values is not read (`core/http/readAnswer.ts`).
	test('a URL is found behind as many entries as an answer can have', () => {
		const entries = [...Array<number>(48_000).fill(0), U];
		for (const fields of [{ odd: entries }, { odd: { ...entries } }, { images: entries }])
			expect(locateResult(recordOf(fields)).urls).toEqual([U]);
	});

	test('of many places, five are named', () => {
		const places = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`p${index}`, `${U}?${index}`]));
		expect(locateResult(recordOf({ odd: places })).choices).toEqual(['odd.p0', 'odd.p1', 'odd.p2', 'odd.p3', 'odd.p4']);
	});

	test('__proto__ is a name like any other to JSON, and nothing is looked for below it', () => {
		const record = recordOf(`{"__proto__":{"url":"${U}","video_url":"${U}"},"a":{"__proto__":{"url":"${U}"}}}`);
		expect(locateResult(record)).toEqual({ urls: [], isInline: false });
		expect(({} as { url?: string }).url).toBeUndefined();
	});
});
