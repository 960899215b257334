const base = require('../jest.config.js');

/** For `npm run bench -- polling`. */
module.exports = {
	...base,
	rootDir: '..',
	roots: ['<rootDir>/bench'],
	testMatch: ['**/*.bench.mts'],
	testTimeout: 300_000,
	maxWorkers: 1,
};
