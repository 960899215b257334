/** As Jest's own transformer, with the deliberate breakage of one file in SIMULATION_BREAKAGE. */
const { env } = require('node:process');
const { createTransformer } = require('@swc/jest');
const jestConfig = require('../../jest.config.js');

const [[, options]] = Object.values(/** @type {Record<string, any>} */ (jestConfig.transform));
const { file, find, becomes } = JSON.parse(env.SIMULATION_BREAKAGE ?? '{}');
const transformer = createTransformer(options);

module.exports = {
	/** @type {NonNullable<typeof transformer.process>} */
	process: (source, name, ...more) =>
		transformer.process?.(name === file ? source.replace(find, () => becomes) : source, name, ...more) ?? { code: '' },
};
