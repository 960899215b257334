/** The address at which n8n calls itself: calls pass, but those of executions that are to stay asleep. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Door {
	/** For `WEBHOOK_URL`. */
	url: string;
	/** Leads to n8n from now on. */
	open(n8nUrl: string, workflowOf: (executionId: string) => Promise<string>): void;
	/** Calls of executions of this workflow get no answer. */
	holdFor(workflowId: string): void;
	/** The path of the call that n8n has made in vain. */
	heldCall(workflowId: string): string | undefined;
	close(): void;
}

export async function startDoor(): Promise<Door> {
	const held = new Map<string, string | undefined>();
	let n8n = '';
	let workflowOf = async (_: string) => await Promise.resolve('');
	const isHeld = async (path: string) => {
		const id = /^\/webhook-waiting\/(\w+)/.exec(path)?.[1];
		if (id === undefined || held.size === 0) return false;
		const workflowId = await workflowOf(id);
		if (!held.has(workflowId)) return false;
		held.set(workflowId, path);
		return true;
	};
	const server: Server = createServer((request, response) => {
		const path = request.url ?? '/';
		void isHeld(path)
			.then(async (isToWait) => {
				if (isToWait) return;
				const answer = await fetch(`${n8n}${path}`, { redirect: 'manual' });
				response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/plain' });
				response.end(await answer.text());
			})
			.catch(() => response.destroy());
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
		open(n8nUrl, lookUp) {
			n8n = n8nUrl;
			workflowOf = lookUp;
		},
		holdFor: (workflowId) => void held.set(workflowId, undefined),
		heldCall: (workflowId) => held.get(workflowId),
		close() {
			server.closeAllConnections();
			server.close();
		},
	};
}
