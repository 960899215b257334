/** Specifications of request bodies, written for a test, and the messages by which a body is refused. */
import { asGatewayError } from '../../core/errors';
import type { JsonObject } from '../../core/json';
import { checkBody } from '../../core/models/body';
import { PendingUpload } from '../../core/models/images';
import type { ModelSpec, FieldSpec } from '../../core/models/model';

/** A field whose label is its path in capitals. */
export const field = (bodyPath: string, more: Partial<FieldSpec> = {}): FieldSpec => ({
	displayName: bodyPath.toUpperCase(),
	...{ name: bodyPath, type: 'string', default: '', bodyPath },
	...more,
});

export const choice = (bodyPath: string, values: string[], more: Partial<FieldSpec> = {}) =>
	field(bodyPath, { type: 'options', options: values.map((value) => ({ name: `The ${value}`, value })), ...more });

export const specOf = (fields: FieldSpec[], more: Partial<ModelSpec> = {}): ModelSpec => ({
	...{ id: 'm', summary: '', fields, rules: [] },
	...more,
});

/** The messages about all that is wrong with a body, in order. */
export function refusalsOf(spec: ModelSpec, body: JsonObject, additionalFields: JsonObject = {}): string[] {
	try {
		checkBody(spec, body, additionalFields);
		return [];
	} catch (thrown) {
		const first = asGatewayError(thrown);
		const all = [first, ...(first.details.others ?? [])];
		expect(new Set(all.map(({ kind }) => kind))).toEqual(new Set(['badInput']));
		return all.map(({ message }) => message);
	}
}

/** An image that is not uploaded yet. */
export const pending = (identity: string) =>
	new PendingUpload(identity, {
		label: 'Image',
		read: async () => await Promise.resolve({ fileName: identity, mimeType: 'image/png', bytes: new Uint8Array() }),
		check: async () => {},
		stored: () => undefined,
	});
