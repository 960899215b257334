/** The form of several models. What n8n shows of the real ones is in test/nodes/models.test.ts. */
import { toOptions, toProperties } from '../../core/models/toProperties';
import { field } from '../support/bodySpecs';

test('a field among the Options is offered for the models that have it, and is not in the form', () => {
	const [inOptions, inForm] = [field('b', { inOptions: true }), field('a')];
	const models = [
		{ id: 'm', summary: '', fields: [inOptions, inForm], rules: [] },
		{ id: 'n', summary: '', fields: [inOptions], rules: [] },
		{ id: 'o', summary: '', fields: [inForm], rules: [] },
	];
	const shown = toOptions(models).map(({ name, displayOptions }) => [name, displayOptions]);
	expect(shown).toEqual([['b', { show: { '/model': ['m', 'n'] } }]]);
	expect(toProperties(models).map(({ name }) => name)).toEqual(['a']);
});
