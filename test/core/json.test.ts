/** JSON: Additional Fields that are merged into a body, and what counts as a value. */
import { isUnset, mergeDeep, parseJson, type JsonObject } from '../../core/json';

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

test('an empty text, false and an empty list are not set, but 0 is', () => {
	expect([undefined, null, '', false, []].filter((value) => !isUnset(value))).toEqual([]);
	expect([0, 'x', true, [0], {}].filter((value) => isUnset(value))).toEqual([]);
});

test('what is no JSON is nothing, and long whole numbers are texts', () => {
	expect([parseJson('<html>'), parseJson('{"a":'), parseJson('')]).toEqual([undefined, undefined, undefined]);
	expect(parseJson('{"id":9223372036854775807}')).toEqual({ id: '9223372036854775807' });
	expect(parseJson('null')).toBeNull();
});
