/** Lets plain Node load TypeScript, in the way that Jest does. */
const { Module } = require('node:module');
const { readFileSync } = require('node:fs');
const { env } = require('node:process');
const { transformSync } = require('@swc/core');
const jestConfig = require('../../../jest.config.js');

const [[, options]] = Object.values(jestConfig.transform);
/** A deliberate breakage of one file (tools/simulation.mjs). */
const broken = JSON.parse(env.SIMULATION_BREAKAGE ?? '{}');
const sourceOf = (/** @type {string} */ file) => {
	const source = readFileSync(file, 'utf8');
	return file === broken.file ? source.replace(broken.find, () => broken.becomes) : source;
};
const load = (/** @type {any} */ module, /** @type {string} */ file) =>
	module._compile(transformSync(sourceOf(file), { ...options, filename: file, swcrc: false }).code, file);
const { _extensions: extensions } = /** @type {any} */ (Module);
// Before JSON: beside each node's file lies a .json of the same name.
const { '.json': json } = extensions;
delete extensions['.json'];
Object.assign(extensions, { '.ts': load, '.mts': load, '.json': json });
