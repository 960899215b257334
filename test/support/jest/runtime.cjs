/** Takes what is in node_modules from Node, which loads it once for each process: see `environment.cjs`. */
const { createRequire } = require('node:module');
const Runtime = require('jest-runtime').default;

module.exports = class extends Runtime {
	/** @type {Runtime['requireModule']} */
	requireModule(from, name, ...rest) {
		const isPackage =
			this._environment.isShared && name !== undefined && /^@?[a-z]/.test(name) && !this._resolution.isCoreModule(name);
		return isPackage ? createRequire(from)(name) : super.requireModule(from, name, ...rest);
	}
};
