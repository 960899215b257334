/** JSON: Additional Fields that are merged into a body, and paths into values. */
import { deletePath, getPath, isUnset, mergeDeep, parseJson, setPath, type JsonObject } from '../../core/json';

describe('Additional Fields are merged', () => {
	test.each<[string, JsonObject, JsonObject, JsonObject]>([
		['a field is added, another replaced', { a: 1, b: 2 }, { b: 3, c: 4 }, { a: 1, b: 3, c: 4 }],
		[
			'objects deep, lists as a whole',
			{ o: { a: 1, l: [1, 2] } },
			{ o: { b: 2, l: [3] } },
			{ o: { a: 1, b: 2, l: [3] } },
		],
		['null removes a field', { a: 1, b: 2 }, { a: null }, { b: 2 }],
		['null removes a field that is not there', { b: 2 }, { a: null }, { b: 2 }],
		['null removes a field in an object', { o: { a: 1, b: 2 } }, { o: { a: null } }, { o: { b: 2 } }],
		['null removes an object', { o: { a: 1 }, b: 2 }, { o: null }, { b: 2 }],
		['null in a new object is not sent either', { b: 2 }, { o: { a: null, c: { d: null } } }, { b: 2, o: { c: {} } }],
		['null in an object that replaces a text', { o: 'x' }, { o: { a: null, b: 1 } }, { o: { b: 1 } }],
		['a null in a list is an entry', {}, { l: [null, 1] }, { l: [null, 1] }],
		['what was null before stays, unless it is named', { a: null, b: null }, { b: 1 }, { a: null, b: 1 }],
	])('Additional Fields are merged: %s', (_, base, extra, merged) => {
		const before = structuredClone([base, extra]);
		expect(mergeDeep(base, extra)).toEqual(merged);
		expect(Object.keys(mergeDeep(base, extra))).toEqual(Object.keys(merged));
		expect([base, extra]).toEqual(before);
	});

	test('Additional Fields are merged without __proto__, which is no field', () => {
		const merged = mergeDeep({}, JSON.parse('{"__proto__": {"a": 1}, "o": {"__proto__": null}}') as JsonObject);
		expect(merged).toEqual({ o: {} });
		expect((merged as { a?: number }).a).toBeUndefined();
	});
});

describe('a path', () => {
	const body = { a: { list: [{ b: 1 }], 'c.d': 2 }, n: null, t: 'x' };
	test.each<[string | string[], unknown]>([
		['a.list.0.b', 1],
		[['a', 'c.d'], 2],
		['a.c.d', undefined],
		['n', null],
		['n.x', undefined],
		['t.length', undefined],
		['a.list.1.b', undefined],
		[[], body],
	])('the path %j leads to what is there', (path, value) => {
		expect(getPath(body, path)).toEqual(value);
	});

	test('a path makes objects and lists on its way where there are none', () => {
		const made: JsonObject = { a: { x: 1 } };
		setPath(made, 'a.b', 2);
		setPath(made, 'list.0.url', 'u');
		setPath(made, 'list.1.url', 'v');
		setPath(made, 'names.0', 'n');
		setPath(made, 'many.10', 'm');
		setPath(made, 'o.1x.y', true);
		setPath(made, 'p.x1.y', true);
		expect(made).toEqual({
			...{ a: { x: 1, b: 2 }, list: [{ url: 'u' }, { url: 'v' }], names: ['n'], many: [...Array(10), 'm'] },
			...{ o: { '1x': { y: true } }, p: { x1: { y: true } } },
		});
		expect([made.many, made.o, made.p].map(Array.isArray)).toEqual([true, false, false]);
	});

	test('a path leads to what is removed, if there is something', () => {
		const left: JsonObject = { a: { b: 1, c: 2, d: { e: 1, f: 2 } }, d: 3, t: 'x', n: null };
		for (const path of ['a.b', 'a.d.e', 'd', 'x.y', 't.y', 'n.y', 'a.x.y']) deletePath(left, path);
		expect(left).toEqual({ a: { c: 2, d: { f: 2 } }, t: 'x', n: null });
	});
});

test('an empty text, false and an empty list are not set, but 0 is', () => {
	expect([undefined, null, '', false, []].filter((value) => !isUnset(value))).toEqual([]);
	expect([0, 'x', true, [0], {}].filter((value) => isUnset(value))).toEqual([]);
});

test('what is no JSON is nothing, and long whole numbers are texts', () => {
	expect([parseJson('<html>'), parseJson('{"a":'), parseJson('')]).toEqual([undefined, undefined, undefined]);
	expect(parseJson('{"id":9223372036854775807}')).toEqual({ id: '9223372036854775807' });
	expect(parseJson('null')).toBeNull();
});
