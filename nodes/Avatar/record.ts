import type { IDataObject } from 'n8n-workflow';
import type { JsonObject } from '../../core/json';
import type { FieldReader } from '../form/fieldReader';
import { simplifyField } from '../form/fields';
import { toRecord } from '../run/output';

/** With Simplify off, the answer of the service as it came stands beside what the node makes of it. */
export function readRecordOutput(form: FieldReader): (raw: JsonObject) => IDataObject {
	const simplify = form.flag(simplifyField);
	return (raw) => (simplify ? {} : { record: toRecord(raw) });
}
