/** A server that writes down who calls it, and answers as it is told. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Answer {
	status: number;
	headers?: Record<string, string>;
	body?: string;
}

export type CallRecorder = Awaited<ReturnType<typeof recordCalls>>;

export async function recordCalls(usual: Answer) {
	const calls: Array<{ method?: string; url?: string; headers: IncomingHttpHeaders }> = [];
	let answers: Answer[] = [];
	const server = createServer(({ method, url, headers }, response) => {
		calls.push({ method, url, headers });
		const { status, headers: more, body = '' } = answers.shift() ?? usual;
		response.writeHead(status, { 'content-type': 'application/json', ...more }).end(body);
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	return {
		calls,
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		/** Forgets the calls. The first ones are answered so, the others as usual. */
		reset(...first: Answer[]) {
			calls.length = 0;
			answers = first;
		},
		async close() {
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
		},
	};
}

/** Does it with a proxy set, as n8n's users set it. */
export async function withProxy(url: string, work: () => Promise<void>): Promise<void> {
	const { HTTP_PROXY, http_proxy } = process.env;
	Object.assign(process.env, { HTTP_PROXY: url, http_proxy: url });
	try {
		await work();
	} finally {
		for (const [name, value] of Object.entries({ HTTP_PROXY, http_proxy })) {
			if (value === undefined) delete process.env[name];
			else process.env[name] = value;
		}
	}
}

/**
 * Does it as where NODE_USE_ENV_PROXY makes `fetch` go through a proxy, which refuses what is meant for proxies. Returns what
 * the proxy has got to see.
 */
export async function withNodesProxy(work: () => Promise<unknown>): Promise<string[]> {
	const { fetch } = globalThis;
	const seen: string[] = [];
	const throughProxy: typeof fetch = async (address, init) => {
		const code = 'UND_ERR_INVALID_ARG';
		if (new Headers(init?.headers).has('proxy-authorization'))
			throw Object.assign(new TypeError('fetch failed'), { cause: { code, message: 'Proxy-Authorization …' } });
		seen.push(String(address));
		return await fetch(address, init);
	};
	await withFetch(throughProxy, work);
	return seen;
}

/** Does it with this in the place of Node's `fetch`. */
export async function withFetch<T>(instead: typeof fetch, work: () => Promise<T>): Promise<T> {
	const { fetch } = globalThis;
	globalThis.fetch = instead;
	try {
		return await work();
	} finally {
		globalThis.fetch = fetch;
	}
}
