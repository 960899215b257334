/**
 * Runs inside n8n (`--require`): a door to the service by which n8n's AI Assistant runs a single node. Over REST, only a model can
 * open it. `POST /` with a request of the service, in the name of the owner.
 */
'use strict';
const { createServer } = require('node:http');
const { dirname, join } = require('node:path');

const port = Number(process.env.EXECUTE_NODE_PORT);
if (port > 0 && process.argv[2] === 'start') {
	const dist = join(dirname(require.resolve(process.argv[1])), '..', 'dist');
	const fromN8n = (name) => require(require.resolve(name, { paths: [dist] }));

	const run = async (request) => {
		const { Container } = fromN8n('@n8n/di');
		const { UserRepository } = fromN8n('@n8n/db');
		const { ExecuteNodeService } = require(join(dist, 'node-execution', 'execute-node.service.js'));
		const [user] = await Container.get(UserRepository).find({
			where: { role: { slug: 'global:owner' } },
			relations: ['role'],
		});
		return await Container.get(ExecuteNodeService).run(user, request);
	};
	createServer(async (incoming, response) => {
		let body = '';
		for await (const part of incoming) body += part;
		const answer = await run(JSON.parse(body)).catch((error) => ({
			status: 'thrown',
			error: { message: String(error.stack) },
		}));
		response.end(JSON.stringify(answer));
	})
		.listen(port, '127.0.0.1')
		.unref();
}
