/** The hints in the output panel: short, once for each kind, and only where there is something to do. */
import type { IDataObject } from 'n8n-workflow';
import { prompts, quick, quickSandbox, runGateway, type RunOptions, type Sandbox } from '../support/nodes.mts';

let sandbox: Sandbox;
beforeAll(async () => {
	sandbox = await quickSandbox({ assetMs: 300 });
});
afterAll(async () => await sandbox.close());
beforeEach(() => sandbox.reset());

type Kind = Parameters<typeof runGateway>[0];

async function hintsOf(kind: Kind, parameters: IDataObject, options: RunOptions = {}) {
	const { task, json, error } = await runGateway(kind, sandbox, parameters, options);
	if (error) throw error;
	return { hints: (task?.hints ?? []).map(({ message }) => message), json };
}

const fromItem = { operation: 'generate', prompt: '={{ $json.prompt }}', result: 'urlOnly', options: quick };
const getFiles = 'create a new workflow: a trigger, and after it Get Result with each task_id.';
const keep = `To keep these files, ${getFiles}`;
const urls = `Result URLs expire in about 24 hours. ${keep}`;

test('tasks that go on get one hint for all of them, and none when they have ended', async () => {
	const started = await hintsOf('video', { ...fromItem, wait: 'dontWait' }, { items: prompts('a', 'b') });
	expect(started.hints).toEqual([
		'2 tasks are still running. After this node, Get Result with {{ $json.task_id }} gets their results. While you build, pin this output first: otherwise n8n may run this node again, which buys new tasks.',
	]);
	const waited = await hintsOf(
		'video',
		{ operation: 'getResult', taskId: '={{ $json.task_id }}', result: 'file', options: quick },
		{ items: started.json.map((json) => ({ json })) },
	);
	expect(waited.hints).toEqual([]);
});

test('that result URLs expire is said once for all items, and not when the files were downloaded', async () => {
	expect((await hintsOf('image', fromItem, { items: prompts('a', 'b') })).hints).toEqual([urls]);
	expect((await hintsOf('image', { ...fromItem, result: 'file' }, { items: prompts('a') })).hints).toEqual([]);
});

test.each([
	['expires=3s', [`Result URLs expire within about an hour. ${keep}`]],
	['expires=0s', [`Result URLs have expired. To see if the service still has the files, ${getFiles}`]],
	['expires=72h', []],
])('the hint names the time that is left: %s', async (directive, expected) => {
	const { hints } = await hintsOf('image', fromItem, { items: prompts(`a [[sandbox ${directive}]]`) });
	expect(hints).toEqual(expected);
});

const image = (...urls: string[]) => ({ images: { image: urls.map((url) => ({ url })) } });
const reference = { ...fromItem, model: 'beta-v3-omni', wait: 'dontWait' };
const notThere =
	'A prompt names an image that its item does not have (image_1 is the first). The service may take the name as text.';

test.each<[string, IDataObject, string[], string[]]>([
	['no images', {}, ['<<<image_1>>>'], [notThere]],
	['too few images', image('https://example.com/a.png'), ['<<<image_1>>> <<<image_2>>>', '<<<image_0>>>'], [notThere]],
	['all images', image('https://example.com/a.png'), ['<<<image_1>>>', 'image_2'], []],
	[
		'images under another name',
		{ options: { additionalFields: { image_with_roles: [{ url: 'https://example.com/a.png' }] } } },
		['<<<image_1>>>'],
		[],
	],
])(
	'a prompt that names images is sent, with %s; a hint names what is not there',
	async (_, parameters, texts, said) => {
		const { hints } = await hintsOf('video', { ...reference, ...parameters }, { items: prompts(...texts) });
		expect(sandbox.tasks.map(({ body }) => body.prompt)).toEqual(texts);
		expect(hints.filter((hint) => hint.includes('image_1'))).toEqual(said);
	},
);

test('hints that differ from item to item do not fill the panel: at most 10 are shown, those of the run too', async () => {
	const items = prompts(...Array.from({ length: 15 }, (_, index) => `a ${index}`));
	const options = { ...quick, simplify: false, resultPath: '={{ "no.path" + $itemIndex }}', reportCredits: true };
	const { hints } = await hintsOf('image', { ...fromItem, options }, { items });
	expect(hints).toHaveLength(10);
	expect(hints[0]).toMatch(/^Result Path no\.path0 leads to no URL/);
	expect(hints.some((hint) => /credits/i.test(hint))).toBe(true);
});

test('an asset that is not active yet gets a hint', async () => {
	const [{ group_id: groupId }] = (await hintsOf('avatar', { resource: 'group', operation: 'create', groupName: 'a' }))
		.json;
	const upload = {
		resource: 'asset',
		operation: 'upload',
		groupId,
		sourceUrl: 'https://example.com/a.png',
	};
	const { hints } = await hintsOf('avatar', { ...upload, waitForActive: false });
	expect(hints).toEqual([
		'1 asset is still being processed. To use it in videos, first wait for it with Asset → Get, Wait Until Active and its asset_id.',
	]);
	expect((await hintsOf('avatar', upload)).hints).toEqual([]);
});
