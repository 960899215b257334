/**
 * A file of tests that stays loaded, as Jest's `testRunner`: its tests run again and again, once for each mutant, and
 * each time they may be others. To load n8n takes seconds; to run a test takes milliseconds.
 */
const { createRequire } = require('node:module');
const { dirname, join } = require('node:path');
// They come with Jest.
const requireFromJest = createRequire(createRequire(require.resolve('jest')).resolve('@jest/core'));
const { createEmptyTestResult } = requireFromJest('@jest/test-result');
const CIRCUS = join(dirname(requireFromJest.resolve('jest-circus/runner')), 'jestAdapterInit.js');
const EVENTS = ['uncaughtException', 'unhandledRejection', 'rejectionHandled'];

/** @typedef {{ name: string, parent: Block, mode?: string | null, declaredMode?: string | null, errors: unknown[], unhandledRejectionErrorByPromise?: Map<unknown, unknown> }} Test */
/** @typedef {{ name: string, parent?: Block, children: (Block | Test)[], hooks: unknown[], tests: Test[] }} Block */
/** @typedef {{ rootDescribeBlock: Block, currentDescribeBlock: Block, hasStarted: boolean, hasFocusedTests: boolean, unhandledErrors: unknown[] }} State */
/** @typedef {{ fullName: string, status: string, failureMessages: string[], duration?: number | null }} Result */
/** @typedef {{ globalConfig: any, config: any, environment: any, runtime: any, testPath: string }} Jest */

/**
 * Jest loads this module, and Stryker's runner in the same process takes from here what has been opened. The context is
 * what the changed code looks into: which mutant is active.
 * @type {{ whenOpened: (file: TestFile) => void, context: Record<string, unknown> }}
 */
const opened = { whenOpened: () => {}, context: {} };

class TestFile {
	/** @type {State | undefined} */
	state;
	/** @type {Set<string> | undefined} */
	only;
	hasFailed = false;
	close = () => {};

	/** @param {Jest} jest */
	constructor(jest) {
		this.jest = jest;
		jest.environment.global.__stryker__ = opened.context;
		jest.environment.handleTestEvent = (
			/** @type {{ name: string, test?: Test }} */ event,
			/** @type {State} */ state,
		) => this.onEvent(event, state);
	}

	async open() {
		const { globalConfig, config, environment, runtime, testPath } = this.jest;
		const circus = runtime.requireInternalModule(CIRCUS);
		const others = listeners();
		await circus.initialize({
			config,
			environment,
			globalConfig,
			localRequire: runtime.requireModule.bind(runtime),
			parentProcess: process,
			runtime,
			setGlobalsForRuntime: runtime.setGlobalsForRuntime.bind(runtime),
			testPath,
		});
		this.listeners = listeners();
		listen(others);
		this.runTests = () => circus.runAndTransformResultsToJestFormat({ config, globalConfig, testPath });
		this.load();
	}

	/** Loads our modules anew, and keeps those of others: no mutant is in them, and n8n is most of it. */
	load() {
		const { config, runtime, testPath } = this.jest;
		const { moduleRegistry } = runtime.registries;
		for (const path of [...moduleRegistry.keys()]) if (!path.includes('/node_modules/')) moduleRegistry.delete(path);
		const { rootDescribeBlock: root } = this.begun;
		for (const list of [root.children, root.hooks, root.tests]) list.length = 0;
		Object.assign(this.begun, { currentDescribeBlock: root, hasStarted: false, hasFocusedTests: false });
		runtime.enterTestCode();
		for (const path of [...config.setupFilesAfterEnv, testPath]) runtime.requireModule(path);
		runtime.leaveTestCode();
	}

	get begun() {
		if (this.state === undefined) throw new Error('Jest has not begun');
		return this.state;
	}

	/** @returns {string[]} */
	get names() {
		return testsOf(this.begun.rootDescribeBlock).map(fullName);
	}

	/**
	 * @param {Set<string>} [only] names of tests; without it, all
	 * @returns {Promise<Result[]>} of the tests that ran: none after the first that failed
	 */
	async run(only) {
		this.only = only;
		this.hasFailed = false;
		this.jest.runtime.restoreAllMocks();
		const others = listeners();
		listen(this.listeners ?? []);
		try {
			/** @type {{ testResults: Result[], testExecError?: { stack: string } }} */
			const { testResults, testExecError } = await this.runTests?.();
			const ran = testResults.filter(({ status }) => status === 'passed' || status === 'failed');
			if (testExecError === undefined) return ran;
			const fullName = ran.at(-1)?.fullName ?? this.names[0];
			return [...ran, { fullName, status: 'failed', failureMessages: [testExecError.stack] }];
		} finally {
			listen(others);
		}
	}

	/**
	 * @param {{ name: string, test?: Test }} event
	 * @param {State} state
	 */
	onEvent({ name, test }, state) {
		this.state = state;
		if (name === 'run_start') {
			state.unhandledErrors.length = 0;
			for (const each of testsOf(state.rootDescribeBlock)) this.begin(each);
		} else if (name === 'test_start' && test !== undefined) {
			if (this.hasFailed) test.mode = 'skip';
			opened.context.currentTestId = fullName(test);
		} else if (name === 'test_done' && test !== undefined) {
			this.hasFailed ||= test.errors.length > 0;
			opened.context.currentTestId = undefined;
		}
	}

	/** @param {Test} test */
	begin(test) {
		if (!('declaredMode' in test)) test.declaredMode = test.mode;
		test.mode = this.only === undefined || this.only.has(fullName(test)) ? test.declaredMode : 'skip';
		Object.assign(test, {
			errors: [],
			status: null,
			startedAt: null,
			duration: null,
			retryReasons: [],
			invocations: 0,
		});
		test.unhandledRejectionErrorByPromise?.clear();
	}
}

/** Those of the process that Jest takes while tests run. */
function listeners() {
	return EVENTS.map((event) => /** @type {(() => void)[]} */ (process.rawListeners(event)));
}

/** @param {(() => void)[][]} each */
function listen(each) {
	EVENTS.forEach((event, index) => {
		process.removeAllListeners(event);
		for (const listener of each[index] ?? []) process.on(event, listener);
	});
}

/**
 * @param {Block} block
 * @returns {Test[]}
 */
function testsOf(block) {
	return block.children.flatMap((child) => ('children' in child ? testsOf(child) : [child]));
}

/** @param {{ name: string, parent?: Block }} test */
function fullName({ name, parent }) {
	const names = [name];
	for (let block = parent; block?.parent !== undefined; block = block.parent) names.unshift(block.name);
	return names.join(' ');
}

module.exports = async function testRunner(
	/** @type {unknown} */ globalConfig,
	/** @type {unknown} */ config,
	/** @type {unknown} */ environment,
	/** @type {unknown} */ runtime,
	/** @type {string} */ testPath,
) {
	const file = new TestFile({ globalConfig, config, environment, runtime, testPath });
	await file.open();
	const closed = new Promise((resolve) => (file.close = () => resolve(undefined)));
	opened.whenOpened(file);
	await closed;
	return { ...createEmptyTestResult(), testFilePath: testPath, testResults: [] };
};
module.exports.opened = opened;
