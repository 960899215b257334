import { CUSTOM_MODEL_LABEL } from '../../labels';
import type { CatalogueEntry, Field, FieldValue, FormEntry } from '../catalogueEntry';

interface OfModel extends FieldValue {
	model: string;
}

const NEEDED_ELSEWHERE = 'it needs n8n 2.41 or later and a saved workflow';

/**
 * Mistakes in a form or a credential, found before anything is sent. One that is found in a single place has its words there, by
 * `invalidInput`; here are those of several places, and those to which other places add something.
 */
export const FORM = {
	invalidInput: {
		message: ({ message }: { message: string }) => message,
		advice: ({ advice }: { advice: string }) => advice,
	},
	fieldEmpty: {
		message: ({ label }: Field) => `${label} is empty`,
		advice: ({ label, enter }: Field & { enter?: string }) => enter ?? `Enter a value for ${label}.`,
	},
	expressionGaveNothing: {
		message: ({ label }: Field) => `${label} is empty: its expression returned nothing for this item`,
		advice: ({ label }: Field) => `Check the expression in ${label}: the item may not have the field that it uses.`,
	},
	notText: {
		message: ({ label, value }: FieldValue) => `${label} is ${value}, which is not text`,
		advice: ({ label }: Field) => `Change ${label} to text.`,
	},
	textTooLong: {
		message: ({ label, length, max, model }: Field & { length: number; max: number; model?: string }) =>
			`${label} has ${length} characters: ${model === undefined ? `at most ${max} are allowed` : `${model} allows at most ${max}`}`,
		advice: ({ label }: Field) => `Shorten ${label}.`,
	},
	notAChoice: {
		message: ({ label, value, allowed }: FieldValue & { allowed: string }) =>
			`${label} is ${value}: it must be ${allowed}`,
		advice: ({ label }: Field) => `Change ${label} to one of them.`,
	},
	notANumber: {
		message: ({ label, value, min }: FieldValue & { min: number }) =>
			`${label} is ${value}: it must be a number, ${min} or more`,
		advice: ({ label, min }: Field & { min: number }) => `Change ${label} to a number, ${min} or more.`,
	},
	numberTooLarge: {
		message: ({ label, value, max }: FieldValue & { max: number }) => `${label} is ${value}: it must be ${max} or less`,
		advice: ({ label, max }: Field & { max: number }) => `Change ${label} to a number, ${max} or less.`,
	},
	valueNotAllowed: {
		message: ({ label, value, model, allowed }: OfModel & { allowed: string }) =>
			`${label} is ${value}: ${model} allows ${allowed}`,
		advice: ({ label, place }: Field & { place?: string }) =>
			`Change ${label}${place === undefined ? '' : ` in ${place}`} to an allowed value.`,
	},
	assetNotAccepted: {
		message: ({ label, value, model }: OfModel) =>
			`${label} is the asset reference ${value}, which ${model} does not accept`,
		/** @param takers the models that take such references, which only the registry knows */
		advice: ({ takers = CUSTOM_MODEL_LABEL }: { takers?: string }) =>
			`This model takes public http(s) URLs. You can enter asset references for ${takers}. To send one with this model anyway, use Additional Fields.`,
	},
	fieldNotForModel: {
		message: ({ label, path, model }: Field & { path: string; model: string }) =>
			`${model} does not support ${label} (${path})`,
		/** @param takers the models that have the field, which only the registry knows */
		advice: ({ advice = '', takers = '' }: { advice?: string; takers?: string }) =>
			[advice, takers && `Models that have it: ${takers}.`].filter(Boolean).join(' '),
	},
	operationNotForWorkflows: {
		message: 'This operation cannot be used in workflows: the node uses it to wait across restarts',
		advice: 'Use Generate or Get Result, and set Wait to Until Ready, Across Restarts.',
	},
	backgroundNotPossible: {
		message: ({ missing, why = NEEDED_ELSEWHERE }: { missing?: string; why?: string }) =>
			`Wait cannot be In Another Workflow here: ${missing === undefined ? why : `this n8n excludes the node "${missing}"`}`,
		advice: ({ missing, why }: { missing?: string; why?: string }) =>
			`${missing !== undefined ? 'Remove it from NODES_EXCLUDE' : why === undefined ? 'Save the workflow, or update n8n' : `It needs n8n's data tables`}. Until then, set Wait to Don’t Wait and get the results with Get Result.`,
	},
	/** Others may have been bought before n8n was asked for it. */
	fileUnreadable: {
		code: 'file_unreadable',
		message: ({ label, name }: Partial<Field> & { name: string }) =>
			`${label === undefined ? 'The' : `${label}: the`} file "${name}" could not be read`,
		advice: ({ words }: { words: string }) =>
			`n8n says: "${words}". Nothing was sent for this item. n8n keeps a file as long as the execution that has stored it. If that was deleted, get the file again: run the workflow from its beginning. You then pay again for items that were bought without a Purchase Key.`,
		created: 'nothing',
	},
} satisfies Record<string, FormEntry & Partial<CatalogueEntry>>;
