/** @type {import('jest').Config} */
module.exports = {
	// Without <rootDir>, which Stryker does not replace here.
	testEnvironment: './test/support/jest/environment.cjs',
	runtime: '<rootDir>/test/support/jest/runtime.cjs',
	// Far more than any test takes: it is for those that hang, and not for a slow machine.
	testTimeout: 600_000,
	// Most tests wait for a task, not for the processor.
	maxWorkers: 14,
	// Jest ends a worker that has not ended by itself in half a second, and says that tests leak. These workers end by
	// themselves: a second and a half after each of 79 files, its process had nothing open but its pipes, and no timer
	// (process.getActiveResourcesInfo). But it takes them longer when six processes of 300 to 700 MB end at once. A leak
	// is still found: `npm test` counts the message as a failure (tools/test.mjs).
	workerGracefulExitTimeout: 15_000,
	testSequencer: '<rootDir>/test/support/jest/longestFirst.cjs',
	roots: [
		'<rootDir>/test/core',
		'<rootDir>/test/nodes',
		'<rootDir>/test/guards',
		'<rootDir>/test/sandbox',
		'<rootDir>/test/simulation',
	],
	globalSetup: '<rootDir>/test/support/makeFolder.mjs',
	globalTeardown: '<rootDir>/test/support/removeFolder.mjs',
	setupFiles: ['<rootDir>/test/support/setup.mts'],
	setupFilesAfterEnv: ['<rootDir>/test/support/freshProcess.mts'],
	moduleFileExtensions: ['ts', 'mts', 'js', 'mjs', 'json', 'node'],
	transform: {
		'^.+\\.m?ts$': [
			'@swc/jest',
			{
				jsc: { parser: { syntax: 'typescript', decorators: true }, target: 'es2022' },
				module: { type: 'commonjs' },
			},
		],
	},
};
