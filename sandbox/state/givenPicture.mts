import { taskImage } from './taskRecord.mts';
import type { SandboxTask } from './tasks.mts';
import type { World } from './world.mts';

/** The picture that a video starts with, where the sandbox has its bytes: an upload, or the result of an image task. */
export async function givenPicture(
	world: World,
	task: SandboxTask,
): Promise<{ url: string; bytes: Buffer } | undefined> {
	for (const url of picturesIn(task.effective)) {
		const bytes = await bytesOf(world, url);
		if (bytes) return { url, bytes };
	}
	return undefined;
}

/** All URLs of the request in their order; the one with the role of the first frame comes first. */
function picturesIn(effective: Record<string, unknown>): string[] {
	const withRoles: unknown[] = Array.isArray(effective.image_with_roles) ? effective.image_with_roles : [];
	const first = withRoles.filter((entry) => JSON.stringify(entry).includes('"first_frame"'));
	return [...JSON.stringify([first, effective]).matchAll(/"(https?:[^"]+)"/g)].map(([, url = '']) => url);
}

async function bytesOf({ addresses, uploads, tasks }: World, url: string): Promise<Buffer | undefined> {
	if (![addresses.files, addresses.mirror].some((host) => url.startsWith(`${host}/`))) return undefined;
	const { pathname } = new URL(url);
	const [, taskId, index] = /^\/results\/([^/]+)\/(\d+)\.png$/.exec(pathname) ?? [];
	if (taskId === undefined) return uploads.get(pathname)?.bytes;
	const made = tasks.find(decodeURIComponent(taskId));
	return made?.kind === 'image' ? await taskImage(made, Number(index)) : undefined;
}
