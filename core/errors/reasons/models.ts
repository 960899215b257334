import { CUSTOM_MODEL_LABEL, IMAGE_ROLES_PATH, IMAGE_URLS_PATH, ROLE_LABELS, ROLES } from '../../labels';
import { either } from '../../text';
import type { Field, FieldValue, FormEntry } from '../entry';

interface OfModel extends FieldValue {
	model: string;
}

/** The advice of the model's own rule. */
const asTheRuleSays = ({ advice = '' }: { advice?: string }) => advice;

const changeField = ({ label }: Field) => `Change ${label} to an allowed value.`;

/** Values that a model does not take. */
export const MODELS = {
	modelNotInList: {
		message: ({ model }: { model: string }) => `Model is "${model}", which this node does not know`,
		advice: ({ known }: { known: string }) => `Choose one of ${known}, or ${CUSTOM_MODEL_LABEL} for any other.`,
	},
	modelInAdditionalFields: {
		message: ({ label }: Field) => `${label} contains the field "model", which cannot be changed there`,
		advice: `Remove it there. To use a model that is not in the list, choose ${CUSTOM_MODEL_LABEL} and enter its ID as Model ID.`,
	},
	bodyUnchanged: {
		message: ({ label }: Field) => `${label} is unchanged: it has an empty prompt and nothing else`,
		advice: 'Enter the prompt and whatever else the model needs.',
	},
	valueNotAllowed: {
		message: ({ label, value, model, allowed }: OfModel & { allowed: string }) =>
			`${label} is ${value}: ${model} allows ${allowed}`,
		advice: changeField,
	},
	valueNotInForm: {
		message: ({ label, value, allowed }: FieldValue & { allowed: string }) =>
			`${label} is ${value}: the form allows ${allowed}`,
		advice: ({ label, path }: Field & { path: string }) =>
			`${changeField({ label })} Not all values of this model are documented: to send this one, enter it as ${path} in Additional Fields.`,
	},
	valueOfWrongType: {
		message: ({ label, value, model, allowed }: OfModel & { allowed: string }) =>
			`${label} is ${value}: ${model} takes ${allowed}`,
		advice: 'Change it in Additional Fields.',
	},
	notAUrl: {
		message: ({ label, value }: FieldValue) => `${label} contains ${value}, which is not an http(s) URL`,
		advice: 'Enter a public URL that starts with https:// or http://.',
	},
	listOfWrongShape: {
		message: ({ label, value }: FieldValue) => `${label} is ${value}, which is not a list that this field takes`,
		advice: ({ row }: { row: string }) =>
			`Add the entries in the form, or let the expression return a URL, a list of URLs, or {"${row}": [{"url": "https://…"}]}.`,
	},
	imageEmpty: {
		message: ({ label }: Field) => `${label} is empty`,
		advice: 'Enter a URL, choose Binary Field as its source, or remove the row.',
	},
	imageNotAUrl: {
		message: ({ label, value }: FieldValue) => `${label} is ${value}, which is not an http(s) URL`,
		advice: 'Enter a public URL that starts with https:// or http://, or set the source to Binary Field.',
	},
	imageIsFile: {
		message: ({ label }: Field) => `${label} contains base64 data: the service accepts image URLs only`,
		advice: 'Set the source of the image to Binary Field: the image is then uploaded first.',
	},
	assetNotAccepted: {
		message: ({ label, value, model }: OfModel) =>
			`${label} is the asset reference ${value}, which ${model} does not accept`,
		/** @param takers the models that take such references, which only the registry knows */
		advice: ({ takers = CUSTOM_MODEL_LABEL }: { takers?: string }) =>
			`This model takes public http(s) URLs. You can enter asset references for ${takers}. To send one with this model anyway, use Additional Fields.`,
	},
	notAnAssetReference: {
		message: ({ label, value }: FieldValue) => `${label} is ${value}, which does not name an asset`,
		advice: 'Enter the reference that Asset → Upload returned, e.g. asset://pa_123.',
	},
	roleMissing: {
		message: ({ label }: Field) => `${label} has no role`,
		advice: `Give each entry of ${IMAGE_ROLES_PATH} the role ${either(ROLES)}, or use ${IMAGE_URLS_PATH}.`,
	},
	roleNotSupported: {
		message: ({ label, value, model }: OfModel) => `${label} has the role ${value}, which ${model} does not support`,
		advice: `Set Role to ${either(Object.values(ROLE_LABELS))}. An expression must return ${either(ROLES)}.`,
	},
	roleNotForModel: {
		message: ({ label, role, model }: Field & { role: string; model: string }) =>
			`${label} has the role ${role}, but ${model} has no roles`,
		advice: 'Set Role to By Position and put the images in their order, or choose a model with roles.',
	},
	roleTwice: {
		message: ({ count, role }: { count: string; role: string }) => `${count} images have the role ${role}`,
		advice: asTheRuleSays,
	},
	rolesMixed: { message: 'Some images have a role and some have none', advice: asTheRuleSays },
	fieldsExcludeEachOther: {
		message: ({ labels }: { labels: string }) => `${labels} cannot be used together`,
		advice: asTheRuleSays,
	},
	oneFieldRequired: {
		message: ({ labels }: { labels: string }) => `One of ${labels} is required`,
		advice: asTheRuleSays,
	},
	tooManyEntries: {
		message: ({ label, count, max }: Field & { count: number; max: number }) =>
			`${label} has ${count} entries, but at most ${max} ${max === 1 ? 'is' : 'are'} allowed`,
		advice: asTheRuleSays,
	},
	fieldNotForModel: {
		message: ({ label, path, model }: Field & { path: string; model: string }) =>
			`${model} does not support ${label} (${path})`,
		/** @param takers the models that have the field, which only the registry knows */
		advice: ({ advice = '', takers = '' }: { advice?: string; takers?: string }) =>
			[advice, takers && `Models that have it: ${takers}.`].filter(Boolean).join(' '),
	},
} satisfies Record<string, FormEntry>;
