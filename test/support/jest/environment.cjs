/**
 * Tests run as the nodes do in n8n: in one process with it, in the same JavaScript context. So n8n, and what else comes
 * from node_modules, is loaded once for each process (`runtime.cjs`), and not for each file: that is a third of the
 * processor time of all tests. Our own modules are loaded anew for each file.
 *
 * Those of `core/` have a context of their own, as is usual in Jest: `core/` knows no n8n, which changes what JavaScript
 * offers (`BigInt.prototype.toJSON`).
 */
const vm = require('node:vm');
const { ModernFakeTimers } = require('@jest/fake-timers');
const { TestEnvironment } = require('jest-environment-node');

/** @type {WeakSet<object>} contexts whose code runs in the one of the process */
const shared = new WeakSet();
const { compileFunction } = vm;
// Jest compiles every module with it, and cannot be told to use the context of the process.
vm.compileFunction = (code, parameters, { parsingContext, ...options } = {}) =>
	compileFunction(code, parameters, shared.has(parsingContext) ? options : { ...options, parsingContext });

module.exports = class extends TestEnvironment {
	/**
	 * @param {ConstructorParameters<typeof TestEnvironment>[0]} config
	 * @param {ConstructorParameters<typeof TestEnvironment>[1]} context
	 */
	constructor(config, context) {
		super(config, context);
		this.isShared = !context.testPath.includes('/test/core/');
		if (!this.isShared) return;
		shared.add(this.context);
		this.global = globalThis;
		this.fakeTimersModern = new ModernFakeTimers({ config: config.projectConfig, global: globalThis });
		this.variables = { ...process.env };
		// Loaded by all, so that it is the same whichever file comes first.
		require('n8n-core');
	}

	async teardown() {
		for (const name of Object.keys(this.isShared ? process.env : {})) delete process.env[name];
		Object.assign(process.env, this.variables);
		await super.teardown();
	}
};
