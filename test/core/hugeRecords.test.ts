/** Records of any size: a service that sends one does not stop n8n. */
import { parseJson } from '../../core/json';
import { missingResult } from '../../core/orders/generationTasks';
import { locateResult } from '../../core/records/locateResult';
import { parseTaskRecord } from '../../core/records/taskRecord';

const U = 'https://files.example/r.mp4';
const V = 'https://files.example/s.mp4';
const recordOf = (fields: string) => parseTaskRecord(parseJson(`{"id":"x","status":"completed",${fields.slice(1)}`))!;
const nested = (levels: number, [open, close]: string[]) => `${open!.repeat(levels)}"${U}"${close!.repeat(levels)}`;

test.each([
	['[', ']'],
	['{"a":', '}'],
])('records may be as deep as they like: %s', (...brackets) => {
	const fields = `"odd":${nested(100_000, brackets)},"data":${nested(100_000, brackets)},"images":[${nested(100_000, brackets)}]`;
	const record = recordOf(`{${fields.replaceAll(U, 'no url')},"content":{"video_url":"${V}"}}`);
	expect(locateResult(record)).toEqual({ urls: [V], foundAt: 'content.video_url' });
	expect(locateResult(record, 'odd.a.a').urls).toEqual([]);
	expect(missingResult('x', record, 0).details.reason?.data).toMatchObject({
		record: expect.stringContaining('{ "odd": ') as string,
	});
});

/** More than an answer may have, which is cut off by its bounds. */
const many = Array.from({ length: 100_000 }, (_, index) => `https://files.example/${index}.mp4`);

test.each<[string, () => object]>([
	['a list', () => ({ odd: many })],
	['a list of objects', () => ({ odd: many.map((url) => ({ url })) })],
	['a known list', () => ({ images: many })],
	[
		'objects',
		() => ({
			odd: Array.from({ length: 100 }, (_, part) =>
				Object.fromEntries(many.slice(part * 1_000, (part + 1) * 1_000).map((url, index) => [`k${index}`, url])),
			),
		}),
	],
])('a record may have a hundred thousand URLs in %s', (_, fields) => {
	const raw = { id: 'x', status: 'completed', ...fields() };
	const startedAt = performance.now();
	const record = parseTaskRecord(raw)!;
	const { urls, choices = [] } = locateResult(record);
	const tookMs = performance.now() - startedAt;
	JSON.stringify(raw); // takes longer on a busy machine, too
	expect(tookMs).toBeLessThan(1000 + 5 * (performance.now() - startedAt - tookMs));
	expect(urls.length + choices.length).toBeGreaterThan(1);
	expect(urls.length).toBeLessThanOrEqual(10_000);
});
