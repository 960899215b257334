import type { Chosen } from '../../core/models/body';
import { mergeDeep, type JsonObject } from '../../core/json';
import { additionalFieldsOption } from '../form/options';
import type { Item } from './inputItem';

/** The request of a form. */
export interface FormRequest {
	body: JsonObject;
	chosen: Chosen;
}

/** A value of the form, as the body has it. Nothing and an empty text are not sent. */
export interface FormValue {
	value: unknown;
	/** The default of the form: a release that changes it makes no other request of a form that does not choose it. */
	default?: unknown;
}

/**
 * The request of a form whose body is written in code: its values by their names in the body, with Additional Fields merged in
 * last. The caller checks it as it is sent.
 *
 * @param constants are sent with every request, and no choice
 */
export function toRequest(item: Item, values: Record<string, FormValue>, constants: JsonObject = {}): FormRequest {
	// What they were to say, such as a limit or the URL of a callback, would be missing.
	item.options.assertNotLost(additionalFieldsOption);
	const additionalFields = item.options.json(additionalFieldsOption);
	const body: JsonObject = { ...constants };
	const form: JsonObject = {};
	for (const [name, { value = '', default: untouched = '' }] of Object.entries(values)) {
		if (value !== '') body[name] = value;
		if (value !== untouched) form[name] = value === '' ? null : value;
	}
	return { body: mergeDeep(body, additionalFields), chosen: { form, additionalFields } };
}

/** True where a body has a value of its form: one that Additional Fields do not give. */
export const isOfForm = ({ chosen }: FormRequest, name: string) => chosen.additionalFields[name] === undefined;
