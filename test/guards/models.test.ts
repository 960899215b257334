import { imageModels, videoModels } from '../../nodes/models';
import { docPages, filesOf, readProjectFile } from '../support/sources.mts';

/** Two that are in no form: the name in the paths of the avatars, and the model to which reference videos go (contract 4.4.4). */
const known = [...imageModels, ...videoModels].map(({ id }) => id).concat('alpha-video-2-0', 'delta-2.6-r2v-flash');

/** All that begins with the first word of a model, such as `beta-v3-omni`. */
const NAME = new RegExp(`\\b(?:${[...new Set(known.map((id) => id.split('-')[0]))].join('|')})(?:[-.]\\w+)+`, 'g');

test('every model that a page or an example names is one of the registry', () => {
	const pages = [...docPages().filter((path) => !path.startsWith('docs/service')), ...filesOf('workflows')];
	const named = pages
		.concat('README.md')
		.flatMap((path) => (readProjectFile(path).match(NAME) ?? []).map((name) => ({ path, name })));
	expect(named.length).toBeGreaterThan(30);
	expect(named.filter(({ name }) => !known.includes(name))).toEqual([]);
});
