import type { Field, FormEntry } from '../entry';

interface Example {
	example: string;
}

/** Mistakes in the credential. */
export const CREDENTIAL = {
	credentialEmpty: {
		message: ({ label }: Field) => `${label} in the credential is empty`,
		advice: 'Enter the address of the service, e.g. https://gateway.example.com.',
	},
	credentialNotAnAddress: {
		message: ({ label }: Field) => `${label} in the credential is not a web address`,
		advice: 'It must start with https://, e.g. https://gateway.example.com.',
	},
	credentialMoreThanAddress: {
		message: ({ label }: Field) => `${label} in the credential contains more than an address`,
		advice: 'Enter the address only, without user name, password, query or #.',
	},
	credentialIsEndpoint: {
		message: ({ label }: Field) => `${label} in the credential is the path of an endpoint`,
		advice: ({ address }: { address: string }) => `Enter the address without it: ${address}.`,
	},
	credentialPlainHttp: {
		message: ({ label }: Field) =>
			`${label} in the credential uses plain http, so the API key would be sent unencrypted`,
		advice:
			'Use https://, or, if the service is in your own private network, turn on Advanced and Private Network in the credential.',
	},
	credentialCharacterNotAllowed: {
		message: ({ label, shown, position }: Field & { shown: string; position: number }) =>
			`${label} in the credential has ${shown} as character ${position}, which HTTP does not allow`,
		advice:
			'Copy the key again from the key management page of your account, and paste it without anything before or after it.',
	},
	credentialAbsoluteUrl: {
		message: ({ label }: Field) =>
			`${label} in the credential is an absolute URL, so the API key would be sent to another host`,
		advice: ({ example }: Example) => `Enter only a path on the service, e.g. ${example}.`,
	},
	credentialNotAPath: {
		message: ({ label }: Field) => `${label} in the credential is not a path on the service`,
		advice: ({ example }: Example) => `A path starts with /, e.g. ${example}.`,
	},
	credentialWithoutTaskId: {
		message: ({ label }: Field) => `${label} in the credential does not say where the task ID goes`,
		advice: ({ example }: Example) => `Put {task_id} in its place, e.g. ${example}.`,
	},
	credentialNotAFieldName: {
		message: ({ label }: Field) => `${label} in the credential is not the name of a field`,
		advice: ({ example }: Example) => `Enter a name of letters, digits and underscores, e.g. ${example}.`,
	},
	credentialNotFormFields: {
		message: ({ label }: Field) => `${label} in the credential is not a JSON object of form fields`,
		advice: 'Enter names with texts, numbers, true or false, e.g. {"purpose": "vision"}.',
	},
	customPathLeadsElsewhere: {
		message: 'A custom path leads to another host',
		advice: 'Turn off Custom Paths in the credential, or enter paths that begin with a slash.',
	},
} satisfies Record<string, FormEntry>;
