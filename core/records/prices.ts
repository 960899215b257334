import { isPlainObject, type JsonObject } from '../json';

/** A name with one of these words names a price: `cost`, `total_cost`, `creditsUsed`. */
const PRICE_WORDS = /^(costs?|prices?|pricing|credits?|fees?|charge[ds]?|billed|billing|quota)$/i;

/** A longer value is no price, and the answer to an agent is to stay small. */
const MOST_CHARACTERS = 100;
const MOST_FIELDS = 20;
/** The fields of one object that are searched: what lies beyond was not meant to be read. */
const MOST_SEARCHED = 1_000;

/** The fields of a record that name a price, also in an object there. Some services have them, contract 2.3 none. */
export function pricesIn(record: JsonObject): JsonObject {
	const found = fieldsOf(record).flatMap(([name, value]): Array<[string, unknown]> => {
		const isObject = isPlainObject(value);
		if (namesPrice(name) && (isObject ? isShort(value) : isScalar(value))) return [[name, value]];
		const inside = isObject ? fieldsOf(value).filter(isPrice) : [];
		return inside.length > 0 ? [[name, Object.fromEntries(inside.slice(0, MOST_FIELDS))]] : [];
	});
	return Object.fromEntries(found.slice(0, MOST_FIELDS));
}

function fieldsOf(record: JsonObject): Array<[string, unknown]> {
	return Object.keys(record)
		.slice(0, MOST_SEARCHED)
		.map((name) => [name, record[name]]);
}

function namesPrice(name: string): boolean {
	if (name.length > MOST_CHARACTERS) return false;
	const words = name.replace(/([a-z])([A-Z])/g, '$1_$2').split(/[^A-Za-z]+/);
	return words.some((word) => PRICE_WORDS.test(word));
}

function isPrice([name, value]: [string, unknown]): boolean {
	return namesPrice(name) && isScalar(value);
}

/** An object such as `{"amount": 0.02, "currency": "USD"}`. */
function isShort(value: JsonObject): boolean {
	return Object.keys(value).length <= MOST_FIELDS && Object.values(value).every(isScalar);
}

function isScalar(value: unknown): boolean {
	return typeof value === 'number' || (typeof value === 'string' && value !== '' && value.length <= MOST_CHARACTERS);
}
