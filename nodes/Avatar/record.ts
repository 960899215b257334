import type { IDataObject } from 'n8n-workflow';
import type { JsonObject } from '../../core/json';
import type { Item } from '../run/item';
import { toRecord } from '../run/output';

/** The service's answer as it came, as the field `record`; nothing with Simplify on. */
export function recordField({ simplify }: { simplify: boolean }, raw: JsonObject = {}): IDataObject {
	return simplify ? {} : { record: toRecord(raw) };
}

export function readRecordOutput({ options }: Item): (raw: JsonObject) => IDataObject {
	return (raw) => recordField({ simplify: options.simplifies }, raw);
}
