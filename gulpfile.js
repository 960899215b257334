/**
 * The last part of the build. `n8n-node build` compiles the sources and copies every picture of the repository into
 * dist; `gulp finish` keeps what n8n loads, removes the rest, and makes code and icons small.
 */
const { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { series } = require('gulp');

const dist = join(__dirname, 'dist');

/** What n8n reads. Pictures of documentation, tests and sandbox are copied along by the build: they go. */
const shipped = new Set(['core', 'credentials', 'icons', 'nodes', 'package.json']);
/** What the compiler leaves for editors and debuggers. n8n reads neither types nor source maps of a community package. */
const leftover = /\.(d\.ts|map|tsbuildinfo)$/;

/** The compiler copies what the sources import of package.json. They need these two, and n8n reads the one outside of dist. */
async function shortenManifest() {
	const file = join(dist, 'package.json');
	const { name, version } = JSON.parse(readFileSync(file, 'utf8'));
	writeFileSync(file, JSON.stringify({ name, version }));
}

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
		if (!shipped.has(entry)) rmSync(join(dist, entry), { recursive: true });
	}
}

/** As the sources are: the compiler indents by four spaces, which makes the package 4 kB larger. */
async function indentByTabs() {
	for (const file of filesInDist().filter((name) => name.endsWith('.js'))) {
		const text = readFileSync(file, 'utf8');
		writeFileSync(
			file,
			text.replace(/^(?: {4})+/gm, (spaces) => '\t'.repeat(spaces.length / 4)),
		);
	}
}

async function minifyIcons() {
	const { optimize } = await import('svgo');
	for (const file of filesInDist().filter((name) => name.endsWith('.svg'))) {
		const { data } = optimize(readFileSync(file, 'utf8'), { path: file, multipass: true });
		writeFileSync(file, data);
	}
}

exports.finish = series(removeWhatIsNotShipped, shortenManifest, indentByTabs, minifyIcons);
