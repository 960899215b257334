/** Finds programs on this machine, and installs the Debian packages of those that it does not have. */
import { accessSync, constants, existsSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { attempt } from '../processes/child.mjs';
import { atEnd } from '../processes/end.mjs';
import { step, ToolError } from '../report/step.mjs';

/** Asked by every package that would start a service of its own; 101 means no. */
const servicePolicy = '/usr/sbin/policy-rc.d';
/** Another apt may be at work. */
const patience = ['-o', 'DPkg::Lock::Timeout=300'];
/** It may read the lists of packages meanwhile, or the mirror may be away for a moment. */
const TRIES = 3;
const TRY_AGAIN_AFTER_MS = 10_000;

/**
 * @param {string[]} names of programs that do the same, best first
 * @param {string[]} [folders] where to look beyond PATH
 * @returns {string | undefined} path of the first that is there
 */
export function findProgram(names, folders = []) {
	const places = [...(process.env.PATH ?? '').split(delimiter), ...folders];
	return names
		.flatMap((name) => places.map((folder) => join(folder, name)))
		.find((file) => {
			try {
				accessSync(file, constants.X_OK);
				return true;
			} catch {
				return false;
			}
		});
}

/**
 * @param {string} purpose what needs them, e.g. "The queue mode of n8n"
 * @param {Record<string, () => unknown>} packages by name: finds what is needed of it, however it was installed
 */
export async function ensureDebianPackages(purpose, packages) {
	const missing = () =>
		Object.entries(packages)
			.filter(([, find]) => !find())
			.map(([name]) => name);
	const names = missing();
	if (names.length === 0) return;
	const list = new Intl.ListFormat('en').format(names);
	const install = ['install', '-y', '--no-install-recommends', ...names];
	if (!existsSync('/usr/bin/apt-get') || process.getuid?.() !== 0) {
		throw new ToolError(
			`${purpose} needs ${list}, which this machine does not have.`,
			`On Debian or Ubuntu: sudo apt-get update && sudo apt-get ${install.join(' ')}\nElsewhere: install it so that its programs are found in PATH. Then run the same command again.`,
		);
	}
	await step(`Installing ${list} from Debian`, async () => {
		const env = { DEBIAN_FRONTEND: 'noninteractive' };
		let output = '';
		for (let tries = 0; tries < TRIES; tries++) {
			if (tries > 0) await pause(TRY_AGAIN_AFTER_MS);
			const allowServices = forbidServices();
			const updated = await attempt('apt-get', ['update'], { env });
			const installed = await attempt('apt-get', [...patience, ...install], { env });
			allowServices();
			// Another suite may have installed it meanwhile.
			if (missing().length === 0) return;
			output = `${updated.output}\n${installed.output}`.trim().split('\n').slice(-25).join('\n');
		}
		throw new ToolError(`"apt-get ${install.join(' ')}" did not install what is needed:\n${output}`);
	});
}

/** The tests start what they need themselves: an installed package must not leave a service running. */
function forbidServices() {
	if (existsSync(servicePolicy)) return () => {}; // the machine has a rule of its own, as containers do
	writeFileSync(servicePolicy, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
	const allow = () => rmSync(servicePolicy, { force: true });
	atEnd(allow);
	return allow;
}
