import { citationsIn, citingFiles, isInRepository } from '../support/citations.mts';
import { readProjectFile } from '../support/sources.mts';

const citations = citingFiles().flatMap((path) => citationsIn(path, readProjectFile(path)));

/** "4.6", "4.6 step 3", "field notes", "field notes Uploads", or the words of what is none of ours. */
const readable = ({ document, section, step, words }: (typeof citations)[number]) => {
	if (document === 'none of ours') return words;
	return [document === 'contract' ? [] : document, section ?? [], step === undefined ? [] : `step ${step}`]
		.flat()
		.join(' ');
};
const found = (path: string, text: string) => citationsIn(path, text).map(readable);

test('citations are found, wherever the code is', () => {
	const isBelow = (...folders: string[]) => citations.filter(({ place }) => folders.includes(place.split('/')[0]));
	expect(isBelow('sandbox').length).toBeGreaterThan(45);
	expect(isBelow('test').length).toBeGreaterThan(15);
	// Of the nodes and of what they are made of, which may be moved.
	expect(citations.length - isBelow('sandbox', 'test', 'docs').length).toBeGreaterThan(60);
	expect(citations.filter(({ step }) => step !== undefined).length).toBeGreaterThan(15);
	expect(citations.filter(({ document }) => document === 'field notes').length).toBeGreaterThan(5);
});

test('whatever is cited is in this repository', () => {
	expect(
		citations.filter((citation) => !isInRepository(citation)).map(({ place, words }) => `${place}: ${words}`),
	).toEqual([]);
});

test.each([
	['// contract 4.5', ['4.5']],
	['/** Contract 4.5. Which sizes exist depends on the resolution. */', ['4.5']],
	['// contract 4.4, 4.5', ['4.4', '4.5']],
	['// contract sections 2.1, 2.2 and 5', ['2.1', '2.2', '5']],
	['// contract sections 4.4.2 to 4.5', ['4.4.2', '4.5']],
	['// contract 4.6 step 4, 4.7 step 2', ['4.6 step 4', '4.7 step 2']],
	['// contract 4.6, steps 1 and 2', ['4.6 step 1', '4.6 step 2']],
	['// contract section 4.6, steps 1 to 3', ['4.6 step 1', '4.6 step 2', '4.6 step 3']],
	['// the callback (contract 4.6, step 3, and 6)', ['4.6 step 3', '6']],
	['// not shown in the contract (2.3), so every place', ['2.3']],
	['// the contract (section 7) and gateways', ['7']],
	["// The contract's section 4.4.2, in two variants", ['4.4.2']],
	['// reads the link (4.6, step 2)', ['4.6 step 2']],
	['// real people (4.6) and private avatars (4.7)', ['4.6', '4.7']],
	['// 4.4.1', ['4.4.1']],
	['// Section 2.1', ['2.1']],
	['/**\n * Not shown in the contract\n * (4.8): the credential can override it.\n */', ['4.8']],
	['// Not shown in the contract\n// (4.8).', ['4.8']],
	['const model = { contract: "4.4.1" };', ['4.4.1']],
	['test("a token (contract 4.3)", () => {});', ['4.3']],
	['describe.each([1])("%s (contract 4.1, 5)", () => {});', ['4.1', '5']],
	['// right after creation (field notes)', ['field notes']],
	['// field notes, Uploads', ['field notes Uploads']],
	['// (field notes, Task status and results)', ['field notes Task status and results']],
	['// as the field notes show it: multipart', ['field notes']],
	['// see docs/service/contract.md and docs/durability.md', []],
])('a citation of what is in this repository is found: %j', (text, expected) => {
	expect(found('core/made-up.ts', text)).toEqual(expected);
	expect(citationsIn('core/made-up.ts', text).filter((citation) => !isInRepository(citation))).toEqual([]);
});

test.each([
	['// contract 4.9', '4.9'],
	['// contract 10', '10'],
	['// contract 4.4, 4.5, 4.66', '4.66'],
	['// contract 4.6, step 6', '4.6 step 6'],
	['// contract 4.6 step 4, 4.7 step 4', '4.7 step 4'],
	['// contract 4.6, steps 4 to 6', '4.6 step 6'],
	['// contract 4.5, step 1', '4.5 step 1'],
	['// (4.6, step 0)', '4.6 step 0'],
	['// not shown (4.9)', '4.9'],
	['// section 3.7', '3.7'],
	['// 4.4.9', '4.4.9'],
	['const model = { contract: "4.4.9" };', '4.4.9'],
	['test("a token (contract 4.31)", () => {});', '4.31'],
	['// field notes, Downloads', 'field notes Downloads'],
	['// (field notes, uploads)', 'field notes uploads'],
	['// a moment later (design 3.7)', '(design 3.7'],
	['// as design 3.7 says', 'design 3.7'],
	['// a moment later (design)', '(design'],
	['// for the rest from the\n// design', 'the design'],
	['// see looking.md', 'looking.md'],
	['// docs/service/design.md says so', 'docs/service/design.md'],
	['// gateway-contract.md, 4.6', 'gateway-contract.md'],
	['// the gateway-contract says', 'gateway-contract'],
	['// n8n-facts, webhooks', 'n8n-facts'],
	['// n8n-facts.md', 'n8n-facts.md'],
	['// style.md', 'style.md'],
	['// for issue 12', 'issue 12'],
	['// issue #12', 'issue #12'],
	['// fixes #12', '#12'],
	['// spec 4.1', 'spec 4.1'],
	['test("the deadline (design 3.7)", () => {});', '(design 3.7'],
])('a citation of what is not in this repository is found: %j', (text, expected) => {
	const missing = citationsIn('core/made-up.ts', text).filter((citation) => !isInRepository(citation));
	expect(missing.map(readable)).toContain(expected);
});

test.each([
	'// n8n 2.41 and 1.123.0 (Node 20.15)',
	'// 4.5 USD, at most 1.5 (2.25 seconds)',
	'// RFC 9110, section 10.2.3',
	'// every step of the contract, by design',
	'// an issue of the form, and the notes of a workflow',
	'const text = "contract 9.9, see looking.md";',
])('no citation is found in %j', (text) => {
	expect(citationsIn('core/made-up.ts', text)).toEqual([]);
});

test('citations are found in a page, too', () => {
	expect(
		found('sandbox/made-up.md', 'The messages of contract section 7, and\nthe field notes. Version (2.0.0), issue 12.'),
	).toEqual(['7', 'field notes']);
});
