import { createSandbox, type Sandbox, type SandboxOptions } from '../../sandbox/index.mts';

export const IMAGES = '/v1/images/generations';
export const VIDEOS = '/v1/videos/generations';

export interface Reply {
	status: number;
	headers: Record<string, string | string[] | number | undefined>;
	text: string;
	/** The parsed body; an empty object when it is no JSON object. */
	json: Record<string, unknown>;
}

/** A sandbox without a network whose clock only moves when told (or when the sandbox itself waits). */
export class Bench {
	clockMs = 1_700_000_000_000;
	readonly sandbox: Sandbox;

	constructor(options: SandboxOptions = {}) {
		this.sandbox = createSandbox({
			imageTaskMs: 10_000,
			videoTaskMs: 20_000,
			assetMs: 3_000,
			requestsPerSecond: 0,
			now: () => this.clockMs,
			sleep: async (ms) => {
				this.clockMs += ms;
			},
			...options,
		});
	}

	async call(
		method: 'GET' | 'POST' | 'OPTIONS' | 'DELETE',
		url: string,
		payload?: object,
		key?: string | null,
	): Promise<Reply> {
		const { statusCode, headers, body } = await this.sandbox.api.inject({
			method,
			url,
			headers: key === null ? {} : { authorization: `Bearer ${key ?? this.sandbox.apiKey}` },
			...(payload === undefined ? {} : { payload }),
		});
		return { status: statusCode, headers, text: body, json: objectIn(body) };
	}

	get(url: string, key?: string | null): Promise<Reply> {
		return this.call('GET', url, undefined, key);
	}

	post(url: string, payload: object, key?: string | null): Promise<Reply> {
		return this.call('POST', url, payload, key);
	}

	image(directives: string, extra: object = {}): Promise<Reply> {
		return this.post(IMAGES, {
			model: 'gamma-image-2',
			prompt: `a cat [[sandbox ${directives}]]`,
			...extra,
		});
	}

	/** Reads the task that was accepted last. */
	async lastStatus(): Promise<Reply> {
		const task = this.sandbox.tasks.at(-1);
		if (!task) throw new Error('no task was accepted');
		return await this.get(`${task.kind === 'image' ? IMAGES : VIDEOS}/${encodeURIComponent(task.id)}`);
	}

	/** Reads a result file by its full URL. */
	async file(url: string): Promise<{ status: number; headers: Reply['headers']; bytes: Buffer }> {
		const { statusCode, headers, rawPayload } = await this.sandbox.files.inject(new URL(url).pathname);
		return { status: statusCode, headers, bytes: rawPayload };
	}
}

function objectIn(text: string): Record<string, unknown> {
	try {
		return Object.assign({}, JSON.parse(text));
	} catch {
		return {};
	}
}

/** The object under a key; an empty one when there is none. */
export function inner(value: Record<string, unknown>, key: string): Record<string, unknown> {
	return Object.assign({}, value[key]);
}
