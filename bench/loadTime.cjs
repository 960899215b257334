/** Milliseconds to load all nodes and credentials of dist, once n8n-workflow and zod are there as in n8n. */
require('n8n-workflow');
require('zod');
const { join } = require('node:path');
const { n8n } = require('../package.json');

const startedAt = performance.now();
for (const file of [...n8n.nodes, ...n8n.credentials]) {
	const name = file.split('/').at(-1).split('.')[0];
	new (require(join(__dirname, '..', file))[name])();
}
console.log(performance.now() - startedAt);
