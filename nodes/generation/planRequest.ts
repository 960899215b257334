import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { GatewayError } from '../../core/errors';
import { mergeDeep, type Body } from '../../core/json';
import { allFields, CUSTOM_MODEL, OPTIONAL_FIELDS_PARAMETER, type FieldSpec, type ModelSpec } from '../../core/models/spec';
import { parseJsonField, toBody, type FormValues, type ImageInput } from '../../core/models/toBody';
import { checkBody } from '../../core/models/checkBody';
import { checkImageField, identifyBinary } from './binary';
import { toText } from '../form/readParameters';

/** A request as the form describes it, checked, with the images that are still to be uploaded. */
export interface PlannedRequest {
	body: Body;
	/** Marker in the body → binary field of the item. */
	uploads: Map<string, string>;
	/** Tells this request from another one, the content of its files included. */
	identity: string;
	/** Labels of values that the model does not have: left out. */
	unused: string[];
}

const UPLOAD_MARKER = 'upload-of-binary-field:';

/** Reads and checks the form of one item. Throws a `badInput` error; sends nothing. */
export function readRequest(
	context: IExecuteFunctions,
	itemIndex: number,
	models: readonly ModelSpec[],
): PlannedRequest {
	const parameter = (name: string): unknown => context.getNodeParameter(name, itemIndex, null) ?? undefined;
	const options = (parameter('options') ?? {}) as IDataObject;
	const additionalFields = parseJsonField('Additional Fields (JSON)', options.additionalFields);
	const modelId = String(parameter('model') ?? '');
	if (modelId === CUSTOM_MODEL) return readCustomRequest(parameter, additionalFields);

	const model = models.find(({ id }) => id === modelId);
	if (model === undefined) {
		throw new GatewayError('badInput', `Model is "${modelId}", which this node does not know`, {
			field: 'Model',
			description: `Choose one of ${models.map(({ id }) => id).join(', ')}, or Custom Model for any other. Nothing was sent.`,
		});
	}
	const uploads = new Map<string, string>();
	const identities: string[] = [];
	const optional = (parameter(OPTIONAL_FIELDS_PARAMETER) ?? {}) as IDataObject;
	const values: FormValues = {};
	for (const field of allFields(model)) {
		const raw = model.fields.includes(field) ? parameter(field.name) : (optional[field.name] ?? undefined);
		values[field.name] = readShape(field, raw, (binaryField) => {
			const data = checkImageField(context, itemIndex, binaryField, field.displayName);
			const marker = `${UPLOAD_MARKER}${uploads.size + 1}`;
			uploads.set(marker, binaryField);
			identities.push(identifyBinary(data));
			return marker;
		});
	}
	const body = toBody(model, values, additionalFields);
	checkBody(model, body, new Set(uploads.keys()));
	return {
		body,
		uploads,
		identity: JSON.stringify([body, identities]),
		unused: findUnused(context, model, models),
	};
}

function readCustomRequest(parameter: (name: string) => unknown, additionalFields: Body): PlannedRequest {
	const id = toText(parameter('customModelId'), 'Model ID');
	if (id === '') {
		throw new GatewayError('badInput', 'Model ID is empty', {
			field: 'Model ID',
			description: 'Enter the identifier of the model, e.g. alpha-video-2-0. Nothing was sent.',
		});
	}
	const form = parseJsonField('Body (JSON)', parameter('customBody'));
	const body = mergeDeep({ ...form, model: id }, additionalFields);
	return { body, uploads: new Map(), identity: JSON.stringify(body), unused: [] };
}

function readShape(field: FieldSpec, raw: unknown, upload: (binaryField: string) => string): unknown {
	if (field.shape === undefined) return raw;
	const rows = Object.values((raw ?? {}) as Record<string, IDataObject[]>).flat();
	if (field.shape === 'urls') return rows.flatMap((row) => toTexts(row.url));
	return rows.flatMap((row): ImageInput[] => {
		const role = typeof row.role === 'string' && row.role !== '' ? row.role : undefined;
		const references =
			row.source === 'binary'
				? String(row.binaryPropertyName ?? 'data').split(',').map((name) => upload(name.trim()))
				: toTexts(row.url).filter((url) => !url.startsWith(UPLOAD_MARKER));
		return (references.length > 0 ? references : ['']).map((reference) => ({ reference, role }));
	});
}

/** A text, or a list of them from an expression. */
function toTexts(value: unknown): string[] {
	return (Array.isArray(value) ? value : [value ?? '']).map((entry) =>
		typeof entry === 'string' ? entry.trim() : JSON.stringify(entry),
	);
}

/**
 * Values of other models that are still in the node: left over from before a change of the model, or visible
 * because the model is an expression. They are never sent; a hint tells the user.
 */
function findUnused(context: IExecuteFunctions, model: ModelSpec, models: readonly ModelSpec[]): string[] {
	const stored = context.getNode().parameters;
	const storedOptional = (stored[OPTIONAL_FIELDS_PARAMETER] ?? {}) as IDataObject;
	const isUsed = ({ name }: FieldSpec, own: FieldSpec[] = []) => own.some((field) => field.name === name);
	const leftOver = models.flatMap((other) => [
		...other.fields.filter(
			(field) =>
				!isUsed(field, model.fields) &&
				field.name in stored &&
				JSON.stringify(stored[field.name]) !== JSON.stringify(field.default),
		),
		...(other.optionalFields ?? []).filter(
			(field) => !isUsed(field, model.optionalFields) && field.name in storedOptional,
		),
	]);
	return [...new Set(leftOver.map(({ displayName }) => displayName))];
}
