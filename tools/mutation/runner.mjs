/**
 * Stryker's test runner that keeps Jest and n8n loaded (`testFile.cjs`): of each mutant only our own modules are loaded.
 * A test that fails must pass again without the mutant, or the process has been left in disorder, and begins anew.
 */
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);
const TEST_FILE = fileURLToPath(new URL('testFile.cjs', import.meta.url));

/** @typedef {{ testFilter?: string[], hitLimit?: number, activeMutant: { id: string } }} MutantRun */
/** @typedef {{ fullName: string, status: string, failureMessages: string[], duration?: number | null }} Result */
/** @typedef {{ names: string[], jest: { testPath: string }, load(): void, run(only?: Set<string>): Promise<Result[]> }} TestFile */

class Runner {
	static inject = /** @type {const} */ (['options']);
	/** @type {TestFile[] | undefined} */
	files;

	/** @param {{ keptTests: { config: object, files: string[] } }} options */
	constructor({ keptTests }) {
		this.settings = keptTests;
		this.opened = require(TEST_FILE).opened;
	}

	/** @returns {Record<string, any>} what the changed code looks into */
	get context() {
		return this.opened.context;
	}

	capabilities() {
		return { reloadEnvironment: true };
	}

	/** The tests and what they reach. */
	async dryRun() {
		const mutantCoverage = { static: {}, perTest: {} };
		this.context.mutantCoverage = mutantCoverage;
		const tests = [];
		for (const file of await this.allFiles()) {
			for (const result of await file.run()) {
				if (result.status === 'failed') return toError(result);
				const { fullName: id, duration } = result;
				tests.push({ id, name: id, status: 0, timeSpentMs: duration ?? 0, fileName: file.jest.testPath });
			}
		}
		return { status: 'complete', tests, mutantCoverage };
	}

	/** @param {MutantRun} run */
	async mutantRun({ testFilter, hitLimit, activeMutant }) {
		const only = testFilter && new Set(testFilter);
		let nrOfTests = 0;
		for (const file of await this.allFiles()) {
			if (only !== undefined && !file.names.some((name) => only.has(name))) continue;
			Object.assign(this.context, { activeMutant: activeMutant.id, hitLimit, hitCount: hitLimit && 0 });
			const results = await loadAndRun(file, only);
			const { hitCount } = this.context;
			Object.assign(this.context, { activeMutant: undefined, hitLimit: undefined, hitCount: undefined });
			file.load();
			nrOfTests += results.length;
			const failed = results.find(({ status }) => status === 'failed');
			const isEndless = hitLimit !== undefined && hitCount > hitLimit;
			if (failed === undefined && !isEndless) continue;
			for (const again of await file.run(new Set([failed?.fullName ?? file.names[0]])))
				if (again.status === 'failed')
					throw new Error(`It fails without a mutant, too: ${toError(again).errorMessage}`);
			if (isEndless) return { status: 'timeout', reason: `Hit limit reached (${hitCount}/${hitLimit})` };
			return {
				status: 'killed',
				nrOfTests,
				killedBy: [failed?.fullName],
				failureMessage: failed?.failureMessages.join(),
			};
		}
		return { status: 'survived', nrOfTests };
	}

	async allFiles() {
		if (this.files !== undefined) return this.files;
		this.files = [];
		for (const path of this.settings.files) this.files.push(await this.open(path));
		return this.files;
	}

	/**
	 * @param {string} path
	 * @returns {Promise<TestFile>}
	 */
	async open(path) {
		return await new Promise((resolve, reject) => {
			this.opened.whenOpened = resolve;
			const config = JSON.stringify({ ...this.settings.config, rootDir: process.cwd(), testRunner: TEST_FILE });
			const options = { $0: '', _: [path], config, runInBand: true, runTestsByPath: true, silent: true, reporters: [] };
			require('jest')
				.runCLI(options, [process.cwd()])
				.then((/** @type {any} */ { results }) => reject(new Error(JSON.stringify(results.testResults))), reject);
		});
	}
}

/**
 * @param {TestFile} file
 * @param {Set<string>} [only]
 * @returns {Promise<Result[]>}
 */
async function loadAndRun(file, only) {
	const [fullName] = file.names;
	try {
		file.load();
	} catch (error) {
		return [{ fullName, status: 'failed', failureMessages: [String(error)] }];
	}
	return await file.run(only);
}

/** @param {Result} result */
function toError({ fullName, failureMessages }) {
	return { status: 'error', errorMessage: `${fullName}: ${failureMessages.join('\n')}` };
}

export const strykerPlugins = [{ kind: 'TestRunner', name: 'kept', injectableClass: Runner }];
