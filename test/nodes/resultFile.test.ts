/** Result files: fetched without the credential, from addresses that may be fetched, at the end of redirects, too. */
import type { IExecuteFunctions } from 'n8n-workflow';
import { abortListeners } from '../../core/processMemory';
import { AddressNotAllowed, openResultFile } from '../../nodes/connection/resultFile';

interface Hop {
	statusCode: number;
	location?: unknown;
	body?: unknown;
}

const RULES = { baseUrl: 'https://g.example', allowPrivateAddresses: false };
const START = 'https://files.example/a/1.png';

/** Opens a file whose hosts give these answers in turn, the last one again and again. */
function opening(hops: Hop[], { url = START, rules = RULES, signal = new AbortController().signal } = {}) {
	const requests: Array<Record<string, unknown> & { url: string; abortSignal: AbortSignal }> = [];
	const httpRequest = async (request: (typeof requests)[number]) => {
		requests.push(request);
		const { statusCode, location, body = 'a body' } = hops[Math.min(requests.length, hops.length) - 1];
		return await Promise.resolve({ statusCode, headers: location === undefined ? {} : { location }, body });
	};
	const context = { helpers: { httpRequest } } as unknown as IExecuteFunctions;
	const opened = openResultFile(context, url, rules, signal);
	return { opened, requests, urls: () => requests.map((request) => request.url) };
}

test('a file is asked for as a stream, and each redirect is left to us', async () => {
	const { opened, requests } = opening([{ statusCode: 200 }]);
	expect(await opened).toEqual({ statusCode: 200, headers: {}, body: 'a body', url: START, isWithKey: false });
	expect(requests).toEqual([
		{
			method: 'GET',
			url: START,
			encoding: 'stream',
			returnFullResponse: true,
			ignoreHttpStatusErrors: true,
			disableFollowRedirect: true,
			timeout: 60_000,
			abortSignal: expect.any(AbortSignal) as AbortSignal,
		},
	]);
});

test.each([
	['no URL', 'an address that cannot be read'],
	['ftp://files.example/a', 'ftp:'],
	['xhttp://files.example/a', 'xhttp:'],
	['http://10.0.0.5/a', '10.0.0.5'],
	['https://127.0.0.1/a', '127.0.0.1'],
])('nothing is sent to %s, and the error names %s', async (url, host) => {
	const { opened, requests } = opening([{ statusCode: 200 }], { url });
	const error = await opened.catch((thrown: Error) => thrown);
	expect(error).toBeInstanceOf(AddressNotAllowed);
	expect(error).toMatchObject({ host, message: host });
	expect(requests).toEqual([]);
});

test.each(['http://files.example/a', 'http://10.0.0.5/a'])(
	'with private addresses allowed, %s is fetched',
	async (url) => {
		const { opened, urls } = opening([{ statusCode: 200 }], { url, rules: { ...RULES, allowPrivateAddresses: true } });
		await opened;
		expect(urls()).toEqual([url]);
	},
);

test.each([301, 302, 303, 307, 308])('a redirect with %i is followed, from where it stands', async (statusCode) => {
	const { opened, urls } = opening([{ statusCode, location: '../b?x=1' }, { statusCode: 404 }]);
	expect(await opened).toMatchObject({ statusCode: 404 });
	expect(urls()).toEqual([START, 'https://files.example/b?x=1']);
});

test.each<[string, Hop]>([
	['a choice', { statusCode: 300, location: '/b' }],
	['what has not changed', { statusCode: 304, location: '/b' }],
	['a file that names another place', { statusCode: 200, location: '/b' }],
	['a redirect to nowhere', { statusCode: 302 }],
	['a redirect to two places', { statusCode: 302, location: ['/b', '/c'] }],
])('%s is an answer: nothing else is fetched', async (_, hop) => {
	const { opened, urls } = opening([hop, { statusCode: 200 }]);
	expect(await opened).toMatchObject({ statusCode: hop.statusCode });
	expect(urls()).toEqual([START]);
});

test('after ten redirects the eleventh is the answer', async () => {
	const { opened, urls } = opening([{ statusCode: 302, location: '/next' }]);
	expect(await opened).toMatchObject({ statusCode: 302 });
	expect(urls()).toHaveLength(11);
});

test('a redirect to a private address is not followed', async () => {
	const { opened, urls } = opening([{ statusCode: 302, location: 'http://169.254.169.254/meta' }]);
	await expect(opened).rejects.toMatchObject({ host: '169.254.169.254' });
	expect(urls()).toEqual([START]);
});

test('the connection of a redirect is ended, and whatever it ends with is caught', async () => {
	const told: string[] = [];
	const body = {
		on: (event: string, listen: () => void) => (told.push(event), listen()),
		destroy: () => told.push('destroyed'),
	};
	const { opened, requests } = opening([{ statusCode: 302, location: '/b', body }, { statusCode: 200 }]);
	await opened;
	expect(told).toEqual(['error', 'destroyed']);
	expect(requests.map(({ abortSignal }) => abortSignal.aborted)).toEqual([true, false]);
});

test('the end of a download ends the connection that is open, and nothing waits for those before it', async () => {
	const stop = new AbortController();
	const hops = [{ statusCode: 302, location: '/b' }, { statusCode: 302, location: '/c' }, { statusCode: 200 }];
	const { opened, requests } = opening(hops, { signal: stop.signal });
	await opened;
	expect(abortListeners.get(stop.signal)?.wakes.size).toBe(1);
	expect(requests[2].abortSignal.aborted).toBe(false);
	stop.abort();
	expect(requests[2].abortSignal.aborted).toBe(true);
});
