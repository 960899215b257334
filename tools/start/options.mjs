/** What can be asked of `npm start` on the command line. */
import { parseArgs } from 'node:util';
import { ToolError } from '../report/step.mjs';

export const help = `Starts a real n8n with this package, and a sandbox gateway that stands in for the service.

  npm start                   installs what is missing, builds, starts, and prints the editor's address
  npm start -- --reset        forgets the local n8n first: workflows, credentials, executions
  npm start -- --port 6000    another port for the editor (a free one is chosen when it is taken)
  npm start -- --help         this text`;

/**
 * @param {string[]} args
 * @returns {{ reset: boolean, help: boolean, port: number }}
 */
export function readOptions(args) {
	/** @type {{ reset?: boolean, help?: boolean, port?: string }} */
	let values;
	try {
		({ values } = parseArgs({
			args,
			options: { reset: { type: 'boolean' }, help: { type: 'boolean', short: 'h' }, port: { type: 'string' } },
		}));
	} catch (error) {
		throw new ToolError(error instanceof Error ? error.message : String(error), `\n${help}`);
	}
	const port = Number(values.port ?? 5678);
	if (!Number.isInteger(port) || port < 1 || port > 65535) {
		throw new ToolError(`"${values.port}" is no port: a port is a whole number from 1 to 65535.`);
	}
	return { reset: values.reset ?? false, help: values.help ?? false, port };
}
