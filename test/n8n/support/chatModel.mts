/**
 * A chat model that answers by a script: it speaks OpenAI's chat completions, as every provider that n8n's chat model
 * nodes can be pointed at does, and keeps what it was sent.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ToolCall {
	name: string;
	arguments: Record<string, unknown>;
}

/** One turn of the model: tool calls or a text. It may depend on the answers of the tools so far. */
export type Turn = ToolCall[] | string | ((toolAnswers: string[]) => ToolCall[] | string);

interface ChatRequest {
	stream?: boolean;
	messages: Array<{ role: string; content: unknown }>;
	tools?: Array<{
		function: { name: string; description: string; parameters: { properties: Record<string, unknown> } };
	}>;
}

export type ChatModel = Awaited<ReturnType<typeof startChatModel>>;

export async function startChatModel() {
	let script: Turn[] = [];
	let requests: ChatRequest[] = [];
	let calls = 0;

	const server = createServer(async (request, response) => {
		if (request.method !== 'POST' || !request.url?.endsWith('/chat/completions'))
			return void response.writeHead(404).end('{}');
		const chat = (await readJson(request)) as ChatRequest;
		requests.push(chat);
		const turn = script.shift() ?? 'The script has ended.';
		const said = typeof turn === 'function' ? turn(toolAnswersIn(chat)) : turn;
		answer(response, chat.stream === true, toMessage(said));
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

	function toMessage(said: ToolCall[] | string) {
		if (typeof said === 'string') return { role: 'assistant', content: said };
		return {
			role: 'assistant',
			content: null,
			tool_calls: said.map(({ name, arguments: input }, index) => ({
				index,
				id: `call_${++calls}`,
				type: 'function',
				function: { name, arguments: JSON.stringify(input) },
			})),
		};
	}

	return {
		/** For the credential. */
		baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
		/** One turn for each request to come; what was kept so far is forgotten. */
		play: (...turns: Turn[]) => {
			script = turns;
			requests = [];
		},
		/** The requests so far, in order. */
		requests: () => requests,
		/** The answers of the tools, as the model read them. */
		toolAnswers: () => toolAnswersIn(requests.at(-1) ?? { messages: [] }),
		close: async () => {
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
		},
	};
}

function toolAnswersIn({ messages }: Pick<ChatRequest, 'messages'>): string[] {
	return messages
		.filter(({ role }) => role === 'tool')
		.map(({ content }) => (typeof content === 'string' ? content : JSON.stringify(content)));
}

async function readJson(request: IncomingMessage): Promise<unknown> {
	const chunks: Buffer[] = [];
	for await (const chunk of request) chunks.push(chunk as Buffer);
	return JSON.parse(Buffer.concat(chunks).toString('utf8'));
}

function answer(response: ServerResponse, stream: boolean, message: Record<string, unknown>): void {
	const finish = message.tool_calls ? 'tool_calls' : 'stop';
	const head = { id: 'chatcmpl-1', created: 1, model: 'scripted' };
	if (!stream) {
		const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
		response.writeHead(200, { 'content-type': 'application/json' });
		response.end(
			JSON.stringify({
				...head,
				object: 'chat.completion',
				usage,
				choices: [{ index: 0, message, finish_reason: finish }],
			}),
		);
		return;
	}
	response.writeHead(200, { 'content-type': 'text/event-stream' });
	for (const choice of [
		{ delta: message, finish_reason: null },
		{ delta: {}, finish_reason: finish },
	]) {
		response.write(
			`data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [{ index: 0, ...choice }] })}\n\n`,
		);
	}
	response.end('data: [DONE]\n\n');
}
