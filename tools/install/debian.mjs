/** Installs Debian packages that are needed and that the machine does not have. */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { run } from '../processes/child.mjs';
import { atEnd } from '../processes/cleanup.mjs';
import { step, ToolError } from '../report/step.mjs';

/** Asked by every package that would start a service of its own; 101 means no. */
const servicePolicy = '/usr/sbin/policy-rc.d';

/** Another apt may be at work. */
const patience = ['-o', 'DPkg::Lock::Timeout=300'];

/**
 * @typedef {object} Need
 * @property {string[]} names of packages, e.g. ['redis-server']
 * @property {() => boolean} isThere whether what they bring along can be used already, however it was installed
 */

/**
 * @param {string} purpose what needs them, e.g. "The queue mode of n8n"
 * @param {Need[]} needs
 */
export async function ensureDebianPackages(purpose, ...needs) {
	const missing = needs.filter(({ isThere }) => !isThere());
	if (missing.length === 0) return;
	const names = missing.flatMap((need) => need.names);
	const list = new Intl.ListFormat('en').format(names);
	const command = `apt-get install -y --no-install-recommends ${names.join(' ')}`;
	if (!existsSync('/usr/bin/apt-get') || process.getuid?.() !== 0) {
		throw new ToolError(
			`${purpose} needs ${list}, which this machine does not have.`,
			`On Debian or Ubuntu: sudo apt-get update && sudo ${command}\nElsewhere: install it so that its programs are found in PATH. Then run the same command again.`,
		);
	}
	await step(`Installing ${list} from Debian`, async () => {
		const allowServices = forbidServices();
		try {
			const updated = await apt(['update']);
			const installed = await apt(['install', '-y', '--no-install-recommends', ...patience, ...names]);
			if (installed.exitCode === 0 && missing.every(({ isThere }) => isThere())) return;
			const output = [updated, installed].map(({ stdout, stderr }) => `${stderr}${stdout}`.trim()).join('\n');
			throw new ToolError(`"${command}" did not give what is needed:\n${output.split('\n').slice(-25).join('\n')}`);
		} finally {
			allowServices();
		}
	});
}

/** @param {string[]} args */
const apt = (args) => run('/usr/bin/apt-get', args, { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } });

/**
 * The tests start what they need themselves: an installed package must not leave a service running.
 * @returns {() => void} undoes it
 */
function forbidServices() {
	if (existsSync(servicePolicy)) return () => {}; // the machine has a rule of its own, as containers do
	writeFileSync(servicePolicy, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
	const remove = () => rmSync(servicePolicy, { force: true });
	const forget = atEnd(remove);
	return () => {
		remove();
		forget();
	};
}
