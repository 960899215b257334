/** A machine that is not in UTC: 14 hours ahead of it. */
const { createRequire } = require('node:module');
// It comes with Jest.
const { TestEnvironment } = createRequire(require.resolve('jest'))('jest-environment-node');

module.exports = class extends TestEnvironment {
	zone = process.env.TZ;

	async setup() {
		process.env.TZ = 'Pacific/Kiritimati';
		await super.setup();
	}

	async teardown() {
		await super.teardown();
		if (this.zone === undefined) delete process.env.TZ;
		else process.env.TZ = this.zone;
	}
};
