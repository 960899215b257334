import type { INodeProperties } from 'n8n-workflow';
import { gatewayError, invalidInput } from '../../core/errors';
import { asArray, isPlainObject, type JsonObject } from '../../core/json';
import { otherShape } from '../../core/models/model';
import { CUSTOM_MODEL, CUSTOM_MODEL_LABEL } from '../../core/labels';
import { MAX_ID_LENGTH } from '../../core/orders/order';
import { show } from '../../core/text';
import { assertNoTemplate, holdsExpression } from '../form/fieldReader';
import { imageModels, videoModels } from '../models';
import type { Item } from '../run/inputItem';

const knownModels = [...imageModels, ...videoModels].map(({ id }) => id).sort((a, b) => a.localeCompare(b));

export const allowedModelsField: INodeProperties = {
	displayName: 'Allowed Models',
	name: 'allowedModels',
	type: 'fixedCollection',
	typeOptions: { multipleValues: true },
	placeholder: 'Add Model',
	default: {},
	description: 'The models that the API key can use. Add none to allow all models.',
	options: [
		{
			displayName: 'Model',
			name: 'model',
			values: [
				{
					displayName: 'Model',
					name: 'id',
					type: 'options',
					options: [
						...knownModels.map((id) => ({ name: id, value: id })),
						{ name: CUSTOM_MODEL_LABEL, value: CUSTOM_MODEL, description: 'A model that is not in the list' },
					].sort((a, b) => a.name.localeCompare(b.name)),
					default: String(knownModels[0]),
				},
				{
					displayName: 'Model ID',
					name: 'customId',
					type: 'string',
					default: '',
					placeholder: 'e.g. my-video-model',
					description: 'The identifier of the model. An expression can also give a list of them.',
					displayOptions: { show: { id: [CUSTOM_MODEL] } },
				},
			],
		},
	],
};

const { displayName: LABEL, name: NAME } = allowedModelsField;
const ROWS = 'model';

/** n8n makes an empty list of everything that is no list of rows: without it, such an API key could use all models. */
export const allowedModelsOfOtherShape: INodeProperties = otherShape(allowedModelsField);

/** The IDs of all rows; none means all models. Throws where an expression gives nothing: the limit would be missing. */
export function readAllowedModels(item: Item): string[] {
	const stored = item.node.parameters[NAME];
	const rows = toRows(item.value(allowedModelsField));
	if (rows.length === 0 && holdsExpression(stored)) throw gatewayError('expressionGaveNothing', { label: LABEL });
	const storedRows = holdsExpression(isPlainObject(stored) ? {} : stored) ? [] : toRows(stored);
	return rows.flatMap((row, index) => readRow(row, storedRows[index], index + 1));
}

/** The form makes `{ model: [row, …] }`; JSON and expressions can give a row, an ID, or a list of them in its place. */
function toRows(given: unknown): unknown[] {
	const isForm = isPlainObject(given) && (ROWS in given || Object.keys(given).length === 0);
	const list = isForm ? given[ROWS] : given;
	return list === undefined || list === null || list === '' ? [] : asArray(list);
}

/** @param number of the row, from 1 */
function readRow(row: unknown, stored: unknown, number: number): string[] {
	const label = `${LABEL}: Model ${number}`;
	if (!isPlainObject(row) || !('id' in row)) {
		if (typeof row === 'string') return [readId(row, label, holdsExpression(stored))];
		throw invalidInput(
			`${LABEL} is ${show(row)}, which is not a list of models`,
			'Add the models in the form, or let the expression return a list of their IDs.',
		);
	}
	const { id, customId } = row;
	const storedRow: JsonObject = isPlainObject(stored) ? stored : {};
	if (id !== CUSTOM_MODEL) return [readKnown(id, label, holdsExpression(storedRow.id))];
	const idLabel = `${LABEL}: Model ID ${number}`;
	assertNoTemplate(storedRow.customId, idLabel);
	const isExpression = holdsExpression(storedRow.customId);
	if (Array.isArray(customId) && customId.length === 0) throw gatewayError('expressionGaveNothing', { label: idLabel });
	return asArray(customId).map((one) => readId(one, idLabel, isExpression));
}

function readKnown(id: unknown, label: string, isExpression: boolean): string {
	if (isEmpty(id) && isExpression) throw gatewayError('expressionGaveNothing', { label });
	if (knownModels.some((known) => known === id)) return String(id);
	throw invalidInput(
		`${label} is ${show(id)}, which is not in the list`,
		`Choose one of ${knownModels.join(', ')}, or ${CUSTOM_MODEL_LABEL} for any other.`,
	);
}

/** One ID: the request separates them by commas. */
function readId(given: unknown, label: string, isExpression: boolean): string {
	const id = typeof given === 'string' ? given.trim() : given;
	if (isEmpty(id))
		throw isExpression ? gatewayError('expressionGaveNothing', { label }) : gatewayError('fieldEmpty', { label });
	if (typeof id !== 'string' || /[,\n\r\t"'[\]{}]/.test(id))
		throw invalidInput(
			`${label} contains ${show(id)}, which is not a single model`,
			'Enter the ID of one model per row, without commas. An expression can also give a list of IDs.',
		);
	if (id.length > MAX_ID_LENGTH) throw gatewayError('textTooLong', { label, length: id.length, max: MAX_ID_LENGTH });
	return id;
}

const isEmpty = (value: unknown) => value === undefined || value === null || value === '';
