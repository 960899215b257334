import type { IDataObject } from 'n8n-workflow';
import type { JsonObject } from '../../core/json';
import type { FieldReader } from '../form/fieldReader';
import { simplifyField } from '../form/fields';
import { toRecord } from '../run/output';

/** The service's answer as it came, as the field `record`; nothing with Simplify on. */
export function recordField({ simplify }: { simplify: boolean }, raw: JsonObject = {}): IDataObject {
	return simplify ? {} : { record: toRecord(raw) };
}

export function readRecordOutput(form: FieldReader): (raw: JsonObject) => IDataObject {
	const simplify = form.flag(simplifyField);
	return (raw) => recordField({ simplify }, raw);
}
