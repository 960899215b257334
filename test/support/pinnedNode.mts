import type { IDataObject, INodeExecutionData, INodeType } from 'n8n-workflow';

/** A node beside the one that is tested. */
export interface Other {
	name: string;
	type: string;
	parameters?: IDataObject;
	disabled?: boolean;
	/** The names of the nodes before and after it. */
	after?: string;
	before?: string;
}

/** Never executed: its output is pinned. n8n keeps the parameters that the type has. */
export class PinnedNode implements INodeType {
	description;

	constructor(parameters: IDataObject = {}) {
		this.description = {
			displayName: 'Pinned',
			name: 'pinned',
			group: ['trigger' as const],
			version: 1,
			description: '',
			defaults: { name: 'Pinned' },
			inputs: ['main' as const],
			outputs: ['main' as const],
			properties: Object.keys(parameters).map((name) => ({
				displayName: name,
				name,
				type: 'string' as const,
				default: '',
			})),
		};
	}

	async execute(): Promise<INodeExecutionData[][]> {
		return await Promise.resolve([[]]);
	}
}
