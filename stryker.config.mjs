/**
 * Mutation testing of the files where money is decided: `npm run test:mutation`. Any test that imports such a file, or one
 * beside it that does, may kill its mutants. A survivor is a question: could a person, the bill or stored data show it?
 */
export default {
	testRunner: 'jest',
	mutate: [
		'core/http/{answers,requests,retry}.ts',
		'core/engine/{buyOnce,jobs}.ts',
		'core/orders/{ledger,states}.ts',
		'core/journal/{marks,replay,purchaseKey}.ts',
		'core/records/{refusals,taskRecord}.ts',
	],
	coverageAnalysis: 'perTest',
	// Stryker cannot look into the environment of that test.
	jest: { config: { testPathIgnorePatterns: ['/test/core/times.test.ts$'] } },
	incremental: true,
	incrementalFile: '.n8n-dev/stryker/incremental.json',
	tempDirName: '.n8n-dev/stryker/sandbox',
	reporters: ['clear-text', 'progress', 'html'],
	htmlReporter: { fileName: '.n8n-dev/stryker/report.html' },
};
