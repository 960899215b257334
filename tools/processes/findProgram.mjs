/** Finds programs on this machine. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/**
 * @param {string[]} names of programs that do the same, best first
 * @param {string[]} [folders] where to look beyond PATH
 * @returns {string | undefined} path of the first that is there
 */
export function findProgram(names, folders = []) {
	const places = [...(process.env.PATH ?? '').split(delimiter), ...folders];
	return names.flatMap((name) => places.map((folder) => join(folder, name))).find(isProgram);
}

/** @param {string} file */
function isProgram(file) {
	try {
		accessSync(file, constants.X_OK);
		return true;
	} catch {
		return false;
	}
}
