/** @type {import('jest').Config} */
module.exports = {
	testEnvironment: 'node',
	// Far more than any test takes: it is for those that hang, and not for a slow machine.
	testTimeout: 120_000,
	// Most tests wait for a task, not for the processor.
	maxWorkers: 6,
	roots: [
		'<rootDir>/test/core',
		'<rootDir>/test/nodes',
		'<rootDir>/test/guards',
		'<rootDir>/test/sandbox',
		'<rootDir>/test/simulation',
		'<rootDir>/test/stored',
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
