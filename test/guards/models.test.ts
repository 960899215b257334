import { image, video } from '../../nodes/generation/media';
import { assetTakers, imageModels, videoModels } from '../../nodes/models';
import { filesOf, readProjectFile } from '../support/sources.mts';

const models = [...imageModels, ...videoModels];
/** Two that are in no form: the name in the paths of the avatars, and the model to which reference videos go (contract 4.4.4). */
const known = [...models.map(({ id }) => id), 'alpha-video-2-0', 'delta-2.6-r2v-flash'];

const pages = ['docs', 'docs/nodes', 'workflows']
	.flatMap(filesOf)
	.filter((path) => /\.(md|json|txt)$/.test(path))
	.concat('README.md')
	.map((path) => ({ path, text: readProjectFile(path) }));
const textOf = (page: string) => readProjectFile(page);

/** Whatever begins with the first word of a model, such as `beta-v3-omni`. */
const NAME = new RegExp(`\\b(?:${[...new Set(known.map((id) => id.split('-')[0]))].join('|')})(?:[-.]\\w+)+`, 'g');
const namesIn = (text: string) => text.match(NAME) ?? [];

test('a name is found whole, without the full stop behind it', () => {
	expect(namesIn('With `delta-2.6-flash`, beta-v3 or gamma-image-2.')).toEqual([
		'delta-2.6-flash',
		'beta-v3',
		'gamma-image-2',
	]);
});

test('every model that a page or an example names is one of the registry', () => {
	const named = pages.flatMap(({ path, text }) => namesIn(text).map((name) => ({ path, name })));
	expect(named.length).toBeGreaterThan(30);
	expect(named.filter(({ name }) => !known.includes(name))).toEqual([]);
});

test.each([
	{ page: 'docs/nodes/image-generation.md', media: image },
	{ page: 'docs/nodes/video-generation.md', media: video },
])('$page has one section for each model, in the order of the registry', ({ page, media }) => {
	const sections = [...textOf(page).matchAll(/^### `([^`]+)`$/gm)].map(([, name]) => name);
	expect(sections).toEqual(media.models.map(({ id }) => id));
});

const usesFirst = models.filter(({ rules = [] }) => rules.some(({ kind }) => kind === 'usesFirst')).map(({ id }) => id);
const mayTakeMore = models
	.filter((model) => JSON.stringify(model).includes('not known to use more'))
	.map(({ id }) => id);

const PLACES = [
	{
		page: 'docs/troubleshooting.md',
		where: 'takes asset references',
		about: /^.*<a id="asset_not_accepted">.*$/m,
		ids: assetTakers(),
	},
	{
		page: 'docs/nodes/avatar.md',
		where: 'takes asset references',
		about: /^The image fields of .*$/m,
		ids: assetTakers(),
	},
	{
		page: 'docs/nodes/video-generation.md',
		where: 'takes asset references',
		about: /need not be public http.*?\. /,
		ids: assetTakers(),
	},
	{
		page: 'docs/troubleshooting.md',
		where: 'uses the first images only',
		about: /^\| Only the first … images .*$/m,
		ids: usesFirst,
	},
	{
		page: 'docs/troubleshooting.md',
		where: 'may take more images',
		about: /^.*<a id="too_many_entries">.*$/m,
		ids: mayTakeMore,
	},
	{
		page: 'docs/nodes/token.md',
		where: 'a key can be for',
		about: /^\| Allowed Models .*$/m,
		ids: models.map(({ id }) => id),
	},
];

test.each(PLACES)('$page names every model that $where, and no other', ({ page, about, ids }) => {
	const [sentence = ''] = about.exec(textOf(page)) ?? [];
	expect(ids.length).toBeGreaterThan(0);
	expect([...new Set(namesIn(sentence))].sort()).toEqual([...ids].sort());
});
