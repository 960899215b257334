import { connectionCode } from '../../nodes/shared/transport';

/** As n8n's HTTP client hands it on: the code outside, the system call inside. */
const wrapped = (code: string, syscall: string) => Object.assign(new Error(code), { code, cause: Object.assign(new Error(code), { code, syscall }) });

describe('what ended a connection', () => {
	test.each([
		['a host that could not be reached', wrapped('EHOSTUNREACH', 'connect'), 'EHOSTUNREACH'],
		['a host name that does not exist', wrapped('ENOTFOUND', 'getaddrinfo'), 'ENOTFOUND'],
		['a time-out while connecting', wrapped('ETIMEDOUT', 'connect'), 'EHOSTUNREACH'],
		['a time-out later', wrapped('ETIMEDOUT', 'read'), 'ETIMEDOUT'],
		['a code that only n8n gives', { httpCode: 'ECONNREFUSED' }, 'ECONNREFUSED'],
		['a status is no code', { httpCode: '404' }, 'UNKNOWN'],
	])('%s', (_title, thrown, code) => {
		expect(connectionCode(thrown)).toBe(code);
	});

	test.each(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ENETDOWN'])('a connection that was there and ended with %s may have carried the request', (code) => {
		expect(connectionCode(wrapped(code, 'read'))).toBe('ECONNRESET');
		expect(connectionCode(wrapped(code, 'write'))).toBe('ECONNRESET');
	});
});
