/**
 * Mutants that no test can kill, because nobody outside could see a difference: each with the reason. One that is killed
 * or no longer exists must leave the list.
 *
 * @typedef {object} Equivalent
 * @property {string} line the line in which the mutant begins, without indentation
 * @property {string} becomes what Stryker puts in the place of the part that it changes
 * @property {string} why
 */

/** @type {Record<string, Equivalent[]>} by file */
export const equivalent = {
	'core/tasks/intents.ts': [
		{ line: 'await this.record?.remove(names);', becomes: 'this.record.remove', why: 'without a record no name is written, so none is removed' },
		{ line: '} catch {', becomes: '{}', why: 'undefined is as false as false' },
	],
	'core/http/retry.ts': [
		{
			line: "if (status === 303 || status === 408 || status >= 500 || status < 200) return 'unknown';",
			becomes: 'status <= 200',
			why: '200 has been answered above',
		},
		{ line: 'if (!value) return undefined;', becomes: 'false', why: 'neither nothing nor an empty text is a number or a date: undefined comes of them further down, too' },
	],
	'nodes/run/purchaseRecord.ts': [
		{ line: '} finally {', becomes: '{}', why: 'what stays in memory is one settled promise for each node' },
		{ line: 'if (lastTurns.get(row) === ended) lastTurns.delete(row);', becomes: 'false', why: 'the same' },
	],
	'core/tasks/runTasks.ts': [
		{ line: '} finally {', becomes: '{}', why: 'the batch waits for answers that have come no longer than for none' },
		{ line: '} finally {', becomes: '{}', why: 'once all have ended, nothing is left that a stop could end' },
	],
	'core/tasks/waitForTask.ts': [
		{ line: 'return ageMs > 0 && ageMs < LONGEST_AGE_MS ? nowMs - ageMs : nowMs;', becomes: 'ageMs >= 0', why: 'at 0 both are now' },
	],
	'core/http/requestLimiter.ts': [
		{ line: 'const oldestMs = this.leftAtMs[this.oldest] ?? -Infinity;', becomes: '+Infinity', why: 'the list is full from the beginning; only the compiler cannot know' },
		{ line: 'if (this.waiting.size === 0) this.wake?.abort();', becomes: 'this.wake.abort', why: 'while one waits, the loop runs' },
		{ line: 'this.slowedToMs = this.slowedToMs > this.spacingMs ? this.slowedToMs * 0.95 : 0;', becomes: 'this.slowedToMs >= this.spacingMs', why: 'no power of 0.95 makes them equal' },
		{ line: 'this.oldest = (this.oldest + 1) % this.leftAtMs.length;', becomes: 'this.oldest - 1', why: 'the ring is gone round the other way' },
	],
	'core/http/serviceErrors.ts': [
		{ line: 'if (status >= 300 && status < 400) {', becomes: 'status <= 400', why: '400 has a meaning of its own, above' },
		{ line: "return gatewayError(status < 300 && status >= 200 && !isJson ? 'notTheService' : 'requestRejected', {}, details);", becomes: 'status <= 300', why: '300 is a redirect, above' },
		{ line: "const own = kind === 'notFound' || kind === 'permission' || kind === 'rejected' ? meanings[kind] : undefined;", becomes: 'true', why: 'there are no meanings but of these kinds; only the compiler asks' },
	],
	'core/client.ts': [
		{ line: "const isUnknownModel = ({ serviceCode }: GatewayErrorDetails) => /^model_not_found$/i.test(serviceCode ?? '');", becomes: '"Stryker was here!"', why: 'neither text is that code' },
	],
};
