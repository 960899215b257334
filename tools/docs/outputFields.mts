/** The table of docs/reference/output.md: the fields of the schemas that n8n shows, each once. */
import { read } from './files.mts';

const MEANINGS: Record<string, string> = {
	url: 'The first result file',
	prompt: 'The prompt of the request',
	task_id: 'The ID of the task',
	status:
		'`queued`, `in_progress`, `completed` or `failed`; while n8n waits also `waiting`, `to be submitted` and `ended`',
	model: 'The model that made the result',
	urls: 'All result files',
	waited_seconds: 'How long the node waited',
	created_at: 'When the task was created, in ISO 8601 (UTC)',
	expires_at: 'When the URLs expire, if the gateway says so',
};

const NODES = { image: 'ImageGeneration', video: 'VideoGeneration' };

/** The fields of Generate and Get Result, which are the same for images and videos. */
function outputFields(): string[] {
	const schemas = Object.entries(NODES).flatMap(([kind, node]) =>
		['generate', 'getResult'].map((operation) => {
			return JSON.parse(read(`nodes/${node}/__schema__/v1.0.0/${kind}/${operation}.json`)) as {
				properties: Record<string, unknown>;
			};
		}),
	);
	return [...new Set(schemas.flatMap(({ properties }) => Object.keys(properties)))];
}

export function describeOutput(): string {
	const rows = outputFields().map((name) => {
		const meaning = MEANINGS[name];
		if (meaning === undefined) throw new Error(`tools/docs/outputFields.mts does not say what ${name} is`);
		return `| \`${name}\` | ${meaning} |`;
	});
	return ['| Field | Meaning |', '|---|---|', ...rows].join('\n');
}
