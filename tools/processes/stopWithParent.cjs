/**
 * Preloaded into the servers that the tools start. When the tool is gone, however it ended (kill -9 included),
 * its IPC channel closes, and the server ends as if it had been asked to: no n8n is left behind on its port.
 */
if (process.channel) {
	process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'));
	process.channel.unref(); // listening must not keep the process alive
}
