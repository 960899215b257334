import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { deserialize, serialize } from 'node:v8';
import type { World } from './world.mts';

// Keeps the state of a sandbox over a restart; not its logs and faults, which belong to one run.

const VERSION = 1;
/** A sandbox that is killed loses at most this. */
const SAVE_EVERY_MS = 1_000;

type Saved = ReturnType<typeof snapshot>;

/** Restores what the file holds, and saves every change. Returns the function that ends this, with a last save. */
export function keepState(world: World, file: string): () => void {
	restore(world, file);
	let last = Buffer.alloc(0);
	const save = () => {
		const bytes = serialize(snapshot(world));
		if (bytes.equals(last)) return;
		writeFileSync(`${file}.new`, bytes);
		renameSync(`${file}.new`, file);
		last = bytes;
	};
	const saving = setInterval(save, SAVE_EVERY_MS);
	saving.unref();
	return () => {
		clearInterval(saving);
		save();
	};
}

/** Plain data, `Infinity`, maps and bytes included, which JSON does not know. */
function snapshot({ tasks, accounts, avatars, uploads, directiveUses }: World) {
	return {
		version: VERSION,
		tasks: tasks.list().map(({ state: _state, ...task }) => task),
		users: accounts.users,
		tokens: accounts.tokens,
		spending: accounts.spending,
		verifications: avatars.verifications,
		groups: avatars.groups,
		assets: [...avatars.assets.values()].map(({ status: _status, ...asset }) => asset),
		uploads,
		directiveUses,
	};
}

function restore(world: World, file: string): void {
	if (!existsSync(file)) return;
	const saved = deserialize(readFileSync(file)) as Saved;
	if (saved.version !== VERSION) throw new Error(`${file} is of another version of the sandbox; delete it`);
	const { accounts, avatars } = world;
	for (const task of saved.tasks) world.tasks.add(task);
	accounts.users = accounts.users.map((user) => saved.users.find(({ key }) => key === user.key) ?? user);
	accounts.tokens = saved.tokens;
	accounts.spending = saved.spending;
	avatars.verifications = saved.verifications;
	avatars.groups = saved.groups;
	for (const asset of saved.assets) avatars.addAsset(asset);
	for (const [path, upload] of saved.uploads) world.uploads.set(path, { ...upload, bytes: Buffer.from(upload.bytes) });
	for (const [key, uses] of saved.directiveUses) world.directiveUses.set(key, uses);
}
