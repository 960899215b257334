import type { IExecuteFunctions, INode } from 'n8n-workflow';

/**
 * The parameters of a node for its items. n8n takes its time for each of them, so one without an expression, which is
 * the same for all items, is read once. Nobody may change what is read.
 */
export class Parameters {
	private readonly same = new Map<string, unknown>();

	/** @param node n8n copies it each time it is asked for it */
	constructor(
		readonly context: IExecuteFunctions,
		readonly node: INode,
	) {}

	/** Null when there is none. */
	read(name: string, itemIndex: number): unknown {
		if (this.same.has(name)) return this.same.get(name);
		const value: unknown = this.context.getNodeParameter(name, itemIndex, null);
		const { parameters } = this.node;
		if (name in parameters && !holdsExpression(parameters[name])) this.same.set(name, value);
		return value;
	}

	isExpression(name: string): boolean {
		return isExpression(this.node.parameters[name]);
	}
}

const isExpression = (stored: unknown) => typeof stored === 'string' && stored.startsWith('=');

function holdsExpression(stored: unknown): boolean {
	return typeof stored === 'object' && stored !== null
		? Object.values(stored).some(holdsExpression)
		: isExpression(stored);
}
