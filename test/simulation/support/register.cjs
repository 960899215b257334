/** Lets plain Node load TypeScript, in the way that Jest does. */
const { Module } = require('node:module');
const { transformFileSync } = require('@swc/core');
const jestConfig = require('../../../jest.config.js');

const [[, options]] = Object.values(jestConfig.transform);
const load = (/** @type {any} */ module, /** @type {string} */ file) =>
	module._compile(transformFileSync(file, { ...options, swcrc: false }).code, file);
const { _extensions: extensions } = /** @type {any} */ (Module);
// Before JSON: beside each node's file lies a .json of the same name.
const { '.json': json } = extensions;
delete extensions['.json'];
Object.assign(extensions, { '.ts': load, '.mts': load, '.json': json });
