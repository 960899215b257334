const base = require('../jest.config.js');

/** The measures that need n8n's engine run in it as the tests do: one after the other, each in a process of its own. */
module.exports = {
	...base,
	rootDir: '..',
	roots: ['<rootDir>/bench'],
	testMatch: ['**/*.bench.mts'],
	testTimeout: 300_000,
	maxWorkers: 1,
};
