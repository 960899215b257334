import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { prompts, quick, quickSandbox, runGateway, testCredential, type Sandbox } from '../support/nodes.mts';

let sandbox: Sandbox;
beforeAll(async () => {
	sandbox = await quickSandbox();
});
afterAll(async () => await sandbox.close());
beforeEach(() => sandbox.reset());

const url = (text: string, role = '') => ({ source: 'url', url: text, role });
const images = (...rows: IDataObject[]) => ({ images: { image: rows } });
const A = 'https://example.com/a.png';

interface Case {
	title: string;
	kind?: 'image' | 'video' | 'avatar' | 'token';
	parameters: IDataObject;
	item?: Partial<INodeExecutionData>;
	credential?: IDataObject;
	says: RegExp;
}

const cases: Case[] = [
	{ title: 'empty prompt', parameters: { prompt: '  ' }, says: /Prompt is empty/ },
	{
		title: 'prompt of 32,001 characters',
		kind: 'image',
		parameters: { prompt: 'é'.repeat(32_001) },
		says: /Prompt has 32001 characters.*at most 32000/,
	},
	{
		title: 'size not allowed at a resolution',
		kind: 'image',
		parameters: { prompt: 'a', resolution: '={{ "4K" }}', size: '={{ "1:1" }}' },
		says: /Size is "1:1".*16:9.*when Resolution is 4K/,
	},
	{
		title: 'images with and without role',
		parameters: { prompt: 'a', ...images(url(A), url(A, 'first_frame')) },
		says: /Role is By Position for some images, and set for others/,
	},
	{
		title: 'data URI as an image',
		parameters: { prompt: 'a', ...images(url('data:image/png;base64,iVBORw0KGgo=')) },
		says: /Images contains base64 data/,
	},
	...Object.entries<IDataObject>({
		'a wrong key': { images: { pictures: [A] } },
		'a wrong key with rows': { images: { Image: [url(A)] } },
		'a row of unknown fields': { images: [{ href: A }] },
		'an expression that gives a number': { images: '={{ 5 }}' },
		'an expression that gives other objects': { images: '={{ [{ href: "https://example.com/a.png" }] }}' },
		'an expression with a wrong key': { images: { image: '={{ ({ href: 1 }) }}' } },
		nothing: { images: { image: [null] } },
		'nothing beside a row': { images: { image: [url(A), null] } },
		'an expression inside a list that gives nothing': { images: { image: ['={{ $json.photo }}'] } },
	}).map(
		([what, parameters]): Case => ({
			title: `a list of images that is ${what}`,
			parameters: { prompt: 'a', ...parameters },
			says: /^Images (is|has|contains) /,
		}),
	),
	...Object.entries<IDataObject>({
		'for the whole list': { images: '={{ $json.photos }}' },
		'for all rows': { images: { image: '={{ $json.photos }}' } },
	}).map(
		([what, parameters]): Case => ({
			title: `an expression ${what} that gives nothing`,
			parameters: { prompt: 'a', ...parameters },
			says: /^Images is empty: its expression returned nothing for this item/,
		}),
	),
	{
		title: 'a way to use the reference video whose expression gives nothing',
		parameters: {
			...{ model: 'beta-v3-omni', prompt: 'a', referenceVideo: '={{ $json.way }}' },
			referenceVideoUrl: 'https://example.com/a.mp4',
		},
		says: /^Reference Video is empty: its expression returned nothing for this item/,
	},
	{
		title: 'asset reference where it is not accepted',
		parameters: { model: 'delta-2.6-flash', ...images(url('asset://pa_1')) },
		says: /asset reference.*delta-2.6-flash does not accept/,
	},
	...Object.entries<[string, RegExp]>({
		'a list': ['={{ ["beta-v3"] }}', /^Model is \["beta-v3"\], which is not text$/],
		'an object': ['={{ ({ id: "beta-v3" }) }}', /^Model is \{"id":"beta-v3"\}, which is not text$/],
		'a long text': ['={{ "x".repeat(5000) }}', /^Model is "x{56}…, which this node does not know$/],
	}).map(
		([what, [model, says]]): Case => ({ title: `a model that is ${what}`, parameters: { prompt: 'a', model }, says }),
	),
	...Object.entries<IDataObject>({
		Prompt: { prompt: '={{ $("Not There").item.json.text }}' },
		'Duration (Seconds)': { prompt: 'a', duration: '={{ $("Not There").item.json.text }}' },
		Images: { prompt: 'a', ...images({ source: 'url', url: '={{ $("Not There").item.json.text }}' }) },
		'File Name': { prompt: 'a', options: { fileName: '={{ $("Not There").item.json.text }}', timeoutMinutes: 5 } },
	}).map(
		([label, parameters]): Case => ({
			title: `an expression in ${label} that n8n cannot resolve`,
			parameters,
			says: new RegExp(`^${label.replace(/[()]/g, '\\$&')}: Referenced node doesn't exist$`),
		}),
	),
	{
		title: 'a model in Additional Fields',
		parameters: { prompt: 'a', options: { additionalFields: '{"model": "beta-v3"}' } },
		says: /Additional Fields \(JSON\) contains the field "model"/,
	},
	{
		title: 'Other Model (by ID) with the body that the form starts with',
		parameters: { model: 'custom', customModelId: 'alpha-video-2-0' },
		says: /Body \(JSON\) is unchanged/,
	},
	{
		title: 'Additional Fields that break a bound',
		parameters: { prompt: 'a', options: { additionalFields: '{"duration": 99}' } },
		says: /Duration \(Seconds\) is 99/,
	},
	{
		title: 'custom path that is an absolute URL',
		parameters: { prompt: 'a' },
		credential: { advanced: true, customPaths: true, videoStatusPath: 'https://evil.example/{task_id}' },
		says: /Video Task Status Path.*absolute URL/,
	},
	...['my file', 'a"b', 'a\r\nb'].map(
		(imageUploadField): Case => ({
			title: `upload field ${JSON.stringify(imageUploadField)}`,
			parameters: { prompt: 'a' },
			credential: { advanced: true, customPaths: true, imageUploadField },
			says: /^Image Upload Field in the credential is not the name of a field/,
		}),
	),
	{
		title: 'a timeout that is not a number',
		parameters: { prompt: 'a', options: { timeoutMinutes: '={{ "soon" }}' } },
		says: /Timeout \(Minutes\) is "soon"/,
	},
	{
		title: 'an output field that is no text',
		parameters: { prompt: 'a', options: { outputField: '={{ ({ a: 1 }) }}' } },
		says: /Put Output File in Field is {"a":1}, which is not text/,
	},
	{
		title: 'an output field that JavaScript would take for something else',
		parameters: { prompt: 'a', options: { outputField: '__proto__' } },
		says: /Put Output File in Field is "__proto__", which no field can be called/,
	},
	...Object.entries<[unknown, string]>({
		'an unknown value': ['soon', '"soon"'],
		'a value of Generate in another operation': ['inAnotherWorkflow', '"inAnotherWorkflow"'],
		'a list': [['untilReady'], '["untilReady"]'],
		'an expression': ['={{ "dontWait" }}', '"{{ "dontWait" }}"'],
		'an empty text': ['', '""'],
	}).map(
		([what, [wait, shown]]): Case => ({
			title: `Wait is ${what}`,
			parameters: { operation: 'getResult', taskId: 'a', wait } as IDataObject,
			says: new RegExp(`^Wait is ${escape(shown)}: it must be untilReady, acrossRestarts or dontWait$`),
		}),
	),
	{
		title: 'Wait of Generate is an unknown value',
		parameters: { prompt: 'a', wait: 'return' },
		says: /^Wait is "return": it must be untilReady, acrossRestarts, inAnotherWorkflow or dontWait$/,
	},
	...Object.entries<[unknown, RegExp]>({
		'an unknown value': ['link', /^Result is "link": it must be file, fileAndLink or urlOnly$/],
		'a number': ['={{ 1 }}', /^Result is 1: it must be/],
		'an expression that gives nothing': ['={{ $json.nothing }}', /^Result is empty: its expression returned nothing/],
	}).flatMap(([what, [result, says]]): Case[] => [
		{ title: `Result of Generate is ${what}`, parameters: { prompt: 'a', result } as IDataObject, says },
		{
			title: `Result of Get Result is ${what}`,
			parameters: { operation: 'getResult', taskId: 'a', result } as IDataObject,
			says,
		},
	]),
	...Object.entries<[IDataObject, RegExp]>({
		'a text in Concurrent Tasks': [{ concurrentTasks: 'many' }, /^Concurrent Tasks is "many": it must be a number/],
		'0 Concurrent Tasks': [{ concurrentTasks: 0 }, /^Concurrent Tasks is 0: it must be a number, 1 or more/],
		'10,001 Concurrent Tasks': [{ concurrentTasks: '={{ 10001 }}' }, /^Concurrent Tasks is 10001: it must be 10000 or/],
		'nothing in Concurrent Tasks': [
			{ concurrentTasks: '={{ $json.no }}' },
			/^Concurrent Tasks is empty: its expression returned nothing/,
		],
		'a Polling Interval of half a second': [
			{ pollIntervalSeconds: 0.5 },
			/^Polling Interval \(Seconds\) is 0.5: .* 1 or/,
		],
		'a list as Polling Interval': [{ pollIntervalSeconds: [1] }, /^Polling Interval \(Seconds\) is \[1\]: it must be/],
		'nothing in Polling Interval': [
			{ pollIntervalSeconds: '={{ $json.no }}' },
			/^Polling Interval \(Seconds\) is empty: its expression returned nothing/,
		],
		'a word in Report Credits': [{ reportCredits: 'often' }, /^Report Credits is "often": it must be true or false/],
		'nothing in Report Credits': [
			{ reportCredits: '={{ $json.no }}' },
			/^Report Credits is empty: its expression returned nothing/,
		],
	}).map(([title, [options, says]]): Case => ({ title, parameters: { prompt: 'a', options }, says })),
	{
		title: 'a list as Keep Original Sound',
		parameters: {
			...{ model: 'beta-v3-omni', prompt: 'a', referenceVideo: 'base', referenceVideoUrl: A },
			keepOriginalSound: '={{ ["yes"] }}',
		},
		says: /^Keep Original Sound is \["yes"\]: beta-v3-omni allows text when /,
	},
	...Object.entries<[unknown, string]>({
		none: [0, '0'],
		'a part': [1.5, '1.5'],
		'a word': ['={{ "two" }}', '"two"'],
		'a list': ['={{ [2] }}', '[2]'],
	}).map(
		([what, [n, shown]]): Case => ({
			title: `Number of Images is ${what}`,
			kind: 'image',
			parameters: { prompt: 'a', n } as IDataObject,
			says: new RegExp(`^Number of Images is ${escape(shown)}: gamma-image-2 allows whole numbers from 1$`),
		}),
	),
	{
		title: 'a list as File Name',
		parameters: { prompt: 'a', options: { fileName: '={{ ["a"] }}' } },
		says: /^File Name is \["a"\], which is not text$/,
	},
	{
		title: 'a switch for the items of files whose expression gives nothing',
		parameters: { prompt: 'a', options: { splitFiles: '={{ $json.no }}' } },
		says: /^Split Files Into Items is empty: its expression returned nothing/,
	},
	{
		title: 'a switch for the items of files that is neither on nor off',
		parameters: { prompt: 'a', options: { splitFiles: '={{ "each" }}' } },
		says: /Split Files Into Items is "each".*true or false/,
	},
	...['.', '..', '\\ud800'].map(
		(id): Case => ({
			title: `a task ID ${id} that would lead elsewhere`,
			parameters: { operation: 'getResult', taskId: `={{ "${id}" }}` },
			says: /^Task ID is ".*", which cannot be an ID$/,
		}),
	),
];

function escape(text: string): string {
	return text.replace(/[\\[\]{}"]/g, '\\$&');
}

/** A field that was switched to Fixed, or that got its text by pasting. */
const template = (label: string, parameters: IDataObject, kind: Case['kind'] = 'video'): Case => ({
	title: `{{ … }} as text in ${label}`,
	kind,
	parameters,
	item: { json: { prompt: 'a', url: A } },
	says: new RegExp(`^${label.replace(/[()]/g, '\\$&')} contains {{ … }} as text, which n8n does not evaluate$`),
});

const upload = { resource: 'asset', operation: 'upload', groupId: 'g', sourceUrl: A };

cases.push(
	template('Prompt', { prompt: '{{ $json.prompt }}' }),
	template('Prompt', { prompt: 'A {{\n$json.a +\n"b" }} c' }),
	template('Image 1', { prompt: 'a', ...images(url('{{ $json.url }}')) }),
	template('Image 1', { prompt: 'a', ...images({ source: 'binary', binaryPropertyName: '{{ $json.field }}' }) }),
	template('Images', { prompt: 'a', images: '{{ $json.url }}' }),
	template('Reference Video URLs: URL 1', {
		model: 'delta-2.6-flash',
		referenceUrls: { video: [{ url: '{{ $json.url }}' }] },
	}),
	template('Purchase Key', { prompt: 'a', options: { purchaseKey: 'order {{ $json.id }}' } }),
	template('Submit Again for Run', { prompt: 'a', options: { submitAgainForRun: '{{ $json.run }}' } }),
	{
		title: 'a run of 201 characters',
		parameters: { prompt: 'a', options: { submitAgainForRun: '1'.repeat(201) } },
		says: /Submit Again for Run has 201 characters: at most 200/,
	},
	{
		title: 'a run that is a list',
		parameters: { prompt: 'a', options: { submitAgainForRun: '={{ [1234] }}' } },
		says: /Submit Again for Run is \[1234\], which is not text/,
	},
	template('Task ID', { operation: 'getResult', wait: 'dontWait', result: 'urlOnly', taskId: '{{ $json.task_id }}' }),
	template('Model ID', { model: 'custom', customModelId: '{{ $json.model }}', customBody: '{"prompt": "a"}' }),
	template('Body (JSON)', { model: 'custom', customModelId: 'm', customBody: '{"prompt": "{{ $json.prompt }}"}' }),
	template('Additional Fields (JSON)', {
		prompt: 'a',
		options: { additionalFields: '{"tag": "{{ $(\'A\').item }}"}' },
	}),
	template('Amount', { operation: 'create', name: 'a', amount: '{{ $json.amount }}' }, 'token'),
	template('Source URL', { ...upload, sourceUrl: '{{ $json.url }}' }, 'avatar'),
	template(
		'Callback URL',
		{ resource: 'verification', operation: 'create', callbackUrl: '{{ $execution.resumeUrl }}' },
		'avatar',
	),
);

test('values of another choice do not count: a Workflow before Wait was changed, a Result that nobody waits for', async () => {
	const workflowId = { __rl: true, mode: 'id', value: 'gone' };
	const along = { workflowId, passAlong: '{"a": ' };
	const { json, error } = await runGateway('video', sandbox, {
		prompt: 'a',
		result: 'urlOnly',
		options: quick,
		...along,
	});
	expect([error, json[0]?.status, json[0]?.pass_along]).toEqual([undefined, 'completed', undefined]);
	const ids = await runGateway('video', sandbox, { prompt: 'a', wait: 'dontWait', result: 'link', ...along });
	expect([ids.error, ids.json[0]?.task_id]).toEqual([undefined, sandbox.tasks[1]?.id]);
});

test('an expression in an option of the run, in a workflow from elsewhere, is evaluated for the first item', async () => {
	const options = { ...quick, concurrentTasks: '= {{ $json.at }}', reportCredits: '={{ $json.reports }}' };
	const items = [1, 0].map((at) => ({ json: { at, reports: at === 1 } }));
	const { error, task } = await runGateway('video', sandbox, { prompt: 'a', result: 'urlOnly', options }, { items });
	expect(error).toBeUndefined();
	expect(task?.hints?.map(({ message }) => message)).toContainEqual(expect.stringMatching(/^The account has used/));
	const aboutTasks = sandbox.requests.filter(({ path }) => path.startsWith('/v1/videos'));
	expect(aboutTasks.map(({ method }) => method).join(' ')).toMatch(/^POST (GET )+POST( GET)+$/);
});

test('a template of another language in JSON is sent as it is', async () => {
	const options = { additionalFields: '{"template": "{{ name }}", "nested": {"a": {"b": 1}}}' };
	await runGateway('video', sandbox, { operation: 'generate', prompt: 'a', wait: 'dontWait', options });
	expect(sandbox.requests[0]?.body).toMatchObject({ template: '{{ name }}' });
});

describe('bad input gets a clear answer, and nothing is sent', () => {
	test.each(cases)(
		'bad input, $title, gets a clear answer, and nothing is sent',
		async ({ kind = 'video', parameters, item, credential, says }) => {
			const { error } = await runGateway(
				kind,
				sandbox,
				{ operation: 'generate', ...parameters },
				{ items: [{ json: {}, ...item }], credential },
			);
			expect(error?.message).toMatch(says);
			expect(error?.description).toMatch(/Nothing was sent/);
			expect(error?.message).not.toMatch(/\b(error|problem|failure|mistake)\b/i);
			expect(sandbox.requests).toHaveLength(0);
		},
	);

	test.each([
		[{ duration: 99 }, 'Change Duration (Seconds) in Additional Fields to an allowed value.'],
		[{ prompt: null }, 'Change Prompt in Additional Fields, or remove it there.'],
	])('the advice on a value of Additional Fields names this place: %j', async (fields, advice) => {
		const options = { additionalFields: JSON.stringify(fields) };
		const { error } = await runGateway('video', sandbox, { operation: 'generate', prompt: 'a', options });
		expect(error?.description).toContain(advice);
	});

	test('one bad item sends nothing; with continue on error only the good ones are sent', async () => {
		const parameters = { operation: 'generate', prompt: '={{ $json.prompt }}', options: quick };
		const items = [{ json: { prompt: 'good' } }, { json: { prompt: '' } }, { json: { prompt: 'also good' } }];
		const stopped = await runGateway('image', sandbox, parameters, { items });
		expect(stopped.error?.message).toMatch(/Prompt is empty: its expression returned nothing for this item/);
		expect(stopped.error?.context?.itemIndex).toBe(1);
		expect(sandbox.requests).toHaveLength(0);

		const { json, items: output } = await runGateway('image', sandbox, parameters, {
			items,
			settings: { onError: 'continueRegularOutput' },
		});
		expect(json.map(({ status }) => status)).toEqual(['completed', undefined, 'completed']);
		expect(json[1].error).toMatch(/Prompt is empty: its expression returned nothing/);
		expect(output[1].pairedItem).toEqual({ item: 1 });
		expect(sandbox.tasks).toHaveLength(2);
	});

	test.each([0, 1])(
		'an option of item %i that cannot be resolved is of that item alone, with continue on error',
		async (bad) => {
			const timeoutMinutes = `={{ $itemIndex === ${bad} ? $('Not There').item.json.minutes : 5 }}`;
			const parameters = {
				operation: 'generate',
				prompt: '={{ $json.prompt }}',
				options: { ...quick, timeoutMinutes },
			};
			const { json } = await runGateway('image', sandbox, parameters, {
				items: prompts('a', 'b', 'c'),
				settings: { onError: 'continueRegularOutput' },
			});
			expect(json.map(({ prompt }) => prompt)).toEqual(['a', 'b', 'c']);
			expect(json.map(({ status }) => status)).toEqual([0, 1, 2].map((row) => (row === bad ? undefined : 'completed')));
			expect(json[bad].error).toMatch(/Referenced node doesn't exist/);
			expect(sandbox.tasks).toHaveLength(2);
		},
	);

	test.each<[IDataObject, string]>([
		[{ advanced: 'yes' }, 'Advanced in the credential is "yes": it must be true or false'],
		[{ requestsPerSecond: 0 }, 'Requests per Second in the credential is 0: it must be a number, 1 or more'],
		[{ requestsPerSecond: 1001 }, 'Requests per Second in the credential is 1001: it must be 1000 or less'],
		...[0, -1, 'many', [20], true].map((concurrentTasks): [IDataObject, string] => [
			{ concurrentTasks },
			`Concurrent Tasks of the Account in the credential is ${JSON.stringify(concurrentTasks)}: it must be a number, 1 or more`,
		]),
		[
			{ concurrentTasks: 10_001 },
			'Concurrent Tasks of the Account in the credential is 10001: it must be 10000 or less',
		],
		[{ privateNetwork: 'on' }, 'Private Network in the credential is "on": it must be true or false'],
		[{ purchaseLog: 'yes' }, 'Purchase Log in the credential is "yes": it must be true or false'],
		[{ customPaths: 1 }, 'Custom Paths in the credential is 1: it must be true or false'],
	])('the credential %j, which no node can run with, does not pass its test either', async (fields, message) => {
		const more = { advanced: true, ...fields };
		expect((await testCredential(sandbox, more)).message).toContain(message);
		const parameters = { operation: 'generate', model: 'gamma-image-2', prompt: 'a', result: 'urlOnly' };
		const { error } = await runGateway('image', sandbox, parameters, { credential: more });
		expect(error?.message).toBe(message);
		expect(sandbox.requests).toHaveLength(0);
	});

	describe.each(['continueRegularOutput', 'continueErrorOutput'] as const)(
		'a run that cannot begin, with On Error %s',
		(onError) => {
			test.each<[string, IDataObject, IDataObject, RegExp]>([
				[
					'an option of the run that is not allowed',
					{ options: { concurrentTasks: 'x' } },
					{},
					/^Concurrent Tasks is "x"/,
				],
				[
					'an option of the run that n8n cannot resolve',
					{ options: { concurrentTasks: '={{ $("No").first().json.x }}' } },
					{},
					/^Concurrent Tasks: Referenced node/,
				],
				['a credential without an address', {}, { baseUrl: '' }, /^Base URL in the credential is empty/],
			])('makes an error of each item for %s: none passes for a result', async (_title, more, credential, message) => {
				const form = { operation: 'generate', model: 'gamma-image-2', prompt: '={{ $json.prompt }}', ...more };
				const items = prompts('a', 'b');
				const { task } = await runGateway('image', sandbox, form, { settings: { onError }, credential, items });
				const [regular = [], failed = []] = task?.data?.main ?? [];
				expect(onError === 'continueErrorOutput' ? regular : failed).toEqual([]);
				const made = [...(regular ?? []), ...(failed ?? [])];
				expect(made.map(({ pairedItem }) => pairedItem)).toEqual([{ item: 0 }, { item: 1 }]);
				for (const { json } of made) expect(json.error).toMatch(message);
				expect(sandbox.requests).toHaveLength(0);
			});
		},
	);

	test('a node without a credential says so, and sends nothing', async () => {
		const { run } = await runGateway(
			'video',
			sandbox,
			{ operation: 'generate', prompt: 'a' },
			{ settings: { credentials: undefined } },
		);
		expect(JSON.stringify(run.data.resultData.error ?? run.data.resultData.runData)).toMatch(/credential/i);
		expect(sandbox.requests).toHaveLength(0);
	});

	test.each([[''], [undefined], ['  ']])('a credential whose key is %j says so, and sends nothing', async (apiKey) => {
		const form = { operation: 'generate', prompt: 'a' };
		const { error } = await runGateway('video', sandbox, form, { credential: { apiKey } });
		expect(error?.message).toBe('API Key in the credential is empty');
		expect(sandbox.requests).toHaveLength(0);
	});

	test('a service that quotes the key does not bring it into an error', async () => {
		for (const apiKey of ['sk-secret-secret', 'another-form-of-key']) {
			sandbox.faults.add({ on: 'create', do: { status: 401, body: { message: `bad key ${apiKey}` } } });
			const { error } = await runGateway(
				'video',
				sandbox,
				{ operation: 'generate', prompt: 'a' },
				{ credential: { apiKey } },
			);
			expect(error?.description).toContain('bad key');
		}
	});

	test('a host that cannot be reached is named', async () => {
		const { error } = await runGateway(
			'video',
			sandbox,
			{ operation: 'generate', prompt: 'a' },
			{ credential: { baseUrl: 'http://127.0.0.1:9' } },
		);
		expect(error?.message).toBe('The service at 127.0.0.1:9 could not be reached');
		expect(error?.description).toMatch(/Check the Base URL/);
	});
});
