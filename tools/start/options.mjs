/** What can be asked of `npm start` on the command line. */
import { parseArgs } from 'node:util';
import { ToolError } from '../report/step.mjs';

export const help = `Starts a real n8n with this package, and a sandbox gateway that stands in for the service.

  npm start                   installs what is missing, builds, starts, and prints the editor's address
  npm start -- --reset        forgets the local n8n first: workflows, credentials, executions
  npm start -- --port 8000    another port for the editor (a free one is chosen when it is taken)
  npm start -- --help         this text`;

/** Of the ports from 1024 up, those that browsers and fetch do not open (Fetch standard, "bad port"). */
const refusedByBrowsers = [1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080];

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
	if (!Number.isInteger(port) || port < 1024 || port > 65535) {
		throw new ToolError(`"${values.port}" cannot be the port: take a whole number from 1024 to 65535, e.g. 8000.`);
	}
	if (refusedByBrowsers.includes(port)) throw new ToolError(`Browsers refuse port ${port}: take another one, e.g. 8000.`);
	return { reset: values.reset ?? false, help: values.help ?? false, port };
}
