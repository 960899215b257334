/**
 * Answers in the place of Node's `fetch`, until `jest.restoreAllMocks()`.
 *
 * @param {typeof fetch} answer
 */
exports.answerFetch = (answer) => jest.spyOn(globalThis, 'fetch').mockImplementation(answer);
