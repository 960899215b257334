import { accounts, manualRuns } from '../../core/processMemory';

/** Each test begins as n8n does after a restart: what one has learned of the limits of an account would slow down the next. */
beforeEach(() => {
	accounts.clear();
	manualRuns.clear();
});
