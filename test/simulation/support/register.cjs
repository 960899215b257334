/** Lets plain Node load TypeScript, in the way that Jest does. */
const { Module } = require('node:module');
const { readFileSync } = require('node:fs');
const { env } = require('node:process');
const { transformSync } = require('@swc/core');
const jestConfig = require('../../../jest.config.js');

const [[, options]] = Object.values(jestConfig.transform);
/** A deliberate breakage of one file (tools/simulation.mjs). */
const broken = JSON.parse(env.SIMULATION_BREAKAGE ?? '{}');
/** Limits that no case of a few items would reach, smaller. */
const SMALLER = [
	{ file: 'core/orders/waveNames.ts', find: 'const KEPT_WAVES = 1000;', becomes: 'const KEPT_WAVES = 4;' },
];
const withSmaller = (/** @type {string} */ file, /** @type {string} */ source) =>
	SMALLER.filter((each) => file.endsWith(each.file)).reduce((text, { find, becomes }) => {
		if (!text.includes(find)) throw new Error(`${file} does not have "${find}" any more`);
		return text.replace(find, becomes);
	}, source);
const sourceOf = (/** @type {string} */ file) => {
	const source = readFileSync(file, 'utf8');
	const smaller = withSmaller(file, source);
	return file === broken.file ? smaller.replace(broken.find, () => broken.becomes) : smaller;
};
const load = (/** @type {any} */ module, /** @type {string} */ file) =>
	module._compile(transformSync(sourceOf(file), { ...options, filename: file, swcrc: false }).code, file);
const { _extensions: extensions } = /** @type {any} */ (Module);
// Before JSON: beside each node's file lies a .json of the same name.
const { '.json': json } = extensions;
delete extensions['.json'];
Object.assign(extensions, { '.ts': load, '.mts': load, '.json': json });
