/** A file that an expression gives without its content, as n8n does where it keeps files in memory: the right one is sent, or none. */
import { pngField, quickSandbox, runGateway, type Sandbox } from '../support/nodes.mts';

let sandbox: Sandbox;
beforeAll(async () => {
	sandbox = await quickSandbox();
});
afterAll(async () => await sandbox.close());
beforeEach(() => sandbox.reset());

const OTHER = Buffer.from('89504e470d0a1a0a00000000', 'hex').toString('base64');
const upload = async (b: object) =>
	await runGateway(
		'image',
		sandbox,
		{ operation: 'uploadImage', binaryPropertyName: '={{ $binary.a }}' },
		{ items: [{ json: {}, binary: { a: pngField(), b: { ...pngField(), ...b } } }] },
	);

test('a file of another name beside it is not taken for the one that an expression gives', async () => {
	const { json } = await upload({ data: OTHER, fileName: 'dog.png' });
	expect(json[0]).toMatchObject({ file_name: 'cat.png' });
});

test('of two files that only differ in their content, none is sent for the other', async () => {
	const { error } = await upload({ data: OTHER });
	expect(error?.message).toBe('Input Binary Field is an object, but not a file');
	expect(sandbox.requests).toEqual([]);
});
