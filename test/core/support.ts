import { GatewayClient, type ClientContext } from '../../core/client';
import { ConnectionError, type Clock, type HttpRequest, type HttpResponse } from '../../core/http';
import { RequestLimiter } from '../../core/requestLimiter';
import { readSettings } from '../../core/settings';

/** A clock that runs as fast as the code does: a sleep is over at once and moves the time. */
export function fakeClock(): Clock & { slept: number[]; at: number } {
	const clock = {
		at: 1_000_000,
		slept: [] as number[],
		now: () => clock.at,
		random: () => 0.5,
		sleep: async (delayMs: number) => {
			clock.slept.push(delayMs);
			clock.at += Math.max(0, delayMs);
		},
	};
	return clock;
}

export const json = (status: number, body: unknown, headers: Record<string, string> = {}): HttpResponse => ({
	status,
	headers,
	text: typeof body === 'string' ? body : JSON.stringify(body),
});

export const HTML = '<!doctype html><html><body>502 Bad Gateway</body></html>';
export const created = json(200, { id: 'task-1', object: 'generation.task', model: 'm', status: 'queued', progress: 0, metadata: {} });

/** A client whose service gives these answers in turn; the last one again and again. */
export function scriptedClient(answers: Array<HttpResponse | string>, raw: Record<string, unknown> = {}, context: Partial<ClientContext> = {}) {
	const clock = fakeClock();
	const sent: HttpRequest[] = [];
	const client = new GatewayClient({
		clock,
		limiter: new RequestLimiter(1000, clock),
		settings: readSettings({ baseUrl: 'https://gateway.example', ...raw }),
		send: async (request) => {
			sent.push(request);
			const answer = answers[Math.min(sent.length, answers.length) - 1];
			if (typeof answer === 'string') throw new ConnectionError(answer);
			return answer;
		},
		...context,
	});
	return { client, sent, clock };
}
