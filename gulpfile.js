/**
 * The last part of the build. `n8n-node build` compiles the sources and copies every picture of the repository into
 * dist; `gulp finish` keeps what n8n loads, removes the rest, and makes the icons small.
 */
const { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { series } = require('gulp');

const dist = join(__dirname, 'dist');

/** The folders that n8n reads from. Pictures of documentation, tests and sandbox are copied along by the build: they go. */
const shippedFolders = new Set(['core', 'credentials', 'icons', 'nodes']);
/** What the compiler leaves for editors and debuggers. n8n reads neither types nor source maps of a community package. */
const leftover = /\.(d\.ts|map|tsbuildinfo)$/;

/** @returns {string[]} full paths */
function filesInDist() {
	if (!existsSync(dist)) throw new Error('There is no dist folder yet: run "npm run build", which compiles first.');
	return readdirSync(dist, { recursive: true })
		.map((file) => join(dist, String(file)))
		.filter((file) => statSync(file).isFile());
}

async function removeWhatIsNotShipped() {
	for (const file of filesInDist()) {
		if (leftover.test(file)) rmSync(file);
	}
	for (const entry of readdirSync(dist)) {
		if (!shippedFolders.has(entry)) rmSync(join(dist, entry), { recursive: true });
	}
}

async function minifyIcons() {
	const { optimize } = await import('svgo');
	for (const file of filesInDist().filter((name) => name.endsWith('.svg'))) {
		const { data } = optimize(readFileSync(file, 'utf8'), { path: file, multipass: true });
		writeFileSync(file, data);
	}
}

exports.finish = series(removeWhatIsNotShipped, minifyIcons);
