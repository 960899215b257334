/** The triggers by themselves: a poll of the balance, and the callback of a person's browser, without n8n. */
import {
	NodeOperationError,
	type IDataObject,
	type INodeExecutionData,
	type IPollFunctions,
	type IWebhookFunctions,
} from 'n8n-workflow';
import { recallVerification, rememberVerification } from '../../core/avatars/memory';
import { answerCallback } from '../../nodes/AvatarVerificationTrigger/handleCallback';
import { checkBalance } from '../../nodes/BalanceTrigger/checkBalance';
import { memoryOf } from '../../nodes/run/verificationMemory';
import { lightContext, NODE, untilDone, type LightOptions } from '../support/lightContext.mts';

describe('a poll of the balance', () => {
	/** One poll after which n8n has kept `kept`. */
	async function poll(balance: object, given: { kept?: object; mode?: string } & LightOptions = {}) {
		const { kept = {}, parameters = {}, mode = 'trigger', credential, more, node = NODE } = given;
		const staticData = { ...kept };
		const form: IDataObject = { threshold: 1000, unit: 'credits', ...parameters };
		const { context, sent } = lightContext({
			...{ answer: () => balance, credential },
			more: {
				getMode: () => mode,
				getNode: () => node,
				getWorkflowStaticData: (kind: string) => (kind === 'node' ? staticData : undefined),
				getNodeParameter: (name: string, fallback: unknown) => {
					if (form[name] instanceof Error) throw form[name];
					return form[name] ?? fallback;
				},
				...more,
			},
		});
		const looked = checkBalance(context as unknown as IPollFunctions);
		const outcome = await looked.then(
			(items) => ({ items, error: undefined }),
			(error: { message: string; node: object; context: object }) => ({ items: undefined, error }),
		);
		return { ...outcome, kept: staticData, sent };
	}

	test('a poll of the balance below the threshold gives the balance and the threshold, once', async () => {
		const balance = { success: true, remain_credits: 999, used_credits: 5, credits_per_usd: 100 };
		const { items, kept, sent } = await poll(balance, { kept: { of: 'others' } });
		expect(items).toEqual([
			[
				{
					json: {
						...{ remain_credits: 999, used_credits: 5, credits_per_usd: 100, remain_usd: 4.995 },
						...{ balance_unit: expect.any(String) as string, threshold_credits: 1000 },
					},
				},
			],
		]);
		expect(sent.map(({ method, path }) => `${method} ${path}`)).toEqual(['GET /v1/user/balance']);
		expect(kept).toStrictEqual({
			of: 'others',
			firedBelowCredits: 1000,
			usedCredits: 5,
			grantedCredits: 1004,
			account: 'c',
		});
		expect((await poll(balance, { kept })).items).toBeNull();
	});

	test('a poll of the balance that has recovered forgets that it has started the workflow', async () => {
		const { items, kept } = await poll(
			{ remain_credits: 1000 },
			{ kept: { of: 'others', firedBelowCredits: 1000, usedCredits: 5, grantedCredits: 1004 } },
		);
		expect(items).toBeNull();
		expect(kept).toStrictEqual({ of: 'others', account: 'c' });
	});

	test.each<[IDataObject, number, boolean]>([
		[{ threshold: 5, unit: 'usd' }, 999, true],
		[{ threshold: 5, unit: 'usd' }, 1000, false],
		[{ 'options.margin': 200 }, 1199, true],
		[{ 'options.margin': 200 }, 1200, false],
		[{ threshold: 5, unit: 'usd', 'options.margin': 1 }, 1199, true],
		[{ threshold: 5, unit: 'usd', 'options.margin': 1 }, 1200, false],
	])(
		'after a poll of the balance by %j, one of %i credits still counts as fallen: %s',
		async (parameters, left, fallen) => {
			const kept = { firedBelowCredits: 1000, usedCredits: 0, grantedCredits: left };
			const { items, ...after } = await poll({ remain_credits: left, used_credits: 0 }, { kept, parameters });
			expect(items).toBeNull();
			const account = 'c';
			expect(after.kept).toStrictEqual({ ...(fallen ? kept : { usedCredits: 0, grantedCredits: left }), account });
		},
	);

	test('a poll of the balance of another account fires, although it has fired for the first one', async () => {
		const kept = { firedBelowCredits: 1000, usedCredits: 5000, grantedCredits: 5500, account: 'c' };
		const balance = { remain_credits: 500, used_credits: 100 };
		const fired = { firedBelowCredits: 1000, usedCredits: 100, grantedCredits: 600 };
		expect(await poll(balance, { kept })).toMatchObject({ items: null, kept: { account: 'c' } });
		const node = { ...NODE, credentials: { generationGatewayApi: { id: 'd', name: 'Other' } } };
		const { items, ...after } = await poll(balance, { kept, node });
		expect([items?.length, after.kept]).toEqual([1, { ...fired, account: 'd' }]);
		for (const credentials of [undefined, {}]) {
			const none = await poll(balance, { node: { ...NODE, credentials } });
			expect(none.kept).toEqual({ ...fired, account: '' });
		}
	});

	test('a poll of the balance by hand shows it, and changes nothing', async () => {
		const kept = { firedBelowCredits: 1000 };
		const { items, ...after } = await poll({ remain_credits: 5000 }, { mode: 'manual', kept });
		expect(items).toMatchObject([[{ json: { remain_credits: 5000, threshold_credits: 1000 } }]]);
		expect(after.kept).toStrictEqual(kept);
	});

	test.each<[string, IDataObject, string]>([
		['no threshold', { threshold: '' }, 'Threshold is empty'],
		['a threshold that n8n cannot resolve', { threshold: new Error('No such node') as never }, 'No such node'],
		['another unit', { unit: 'CNY' }, 'Threshold Unit is "CNY": it must be credits or usd'],
	])('a poll of the balance with %s sends nothing, and says so', async (_, parameters, message) => {
		const { error, sent, kept } = await poll({}, { parameters });
		expect(error).toMatchObject({ message, node: NODE, context: { itemIndex: 0 } });
		expect([sent, kept]).toEqual([[], {}]);
	});

	test.each<[string, IDataObject, string]>([
		['Threshold', { threshold: '={{ $json.none }}' }, 'threshold'],
		['Threshold Unit', { unit: '={{ $json.none }}' }, 'unit'],
		['Recovery Margin', { options: { margin: '={{ $json.none }}' } }, 'options.margin'],
	])(
		'a poll of the balance whose expression in %s gives nothing sends nothing, and says so',
		async (label, stored, name) => {
			const node = { ...NODE, parameters: stored as never };
			const { error, sent } = await poll({}, { parameters: { [name]: null }, node });
			expect(error?.message).toBe(`The expression in ${label} gave nothing for this item`);
			expect(sent).toEqual([]);
		},
	);

	test.each([
		['that is gone', new NodeOperationError(NODE, 'Credential with ID "c" does not exist for type "x".')],
		['that its database does not give', new Error('Connection terminated unexpectedly')],
	])('a poll whose credential n8n cannot read, %s, ends with the error of n8n, which may pass', async (_, thrown) => {
		const kept = { firedBelowCredits: 1000, usedCredits: 5 };
		const getCredentials = async () => await Promise.reject(thrown);
		const { error, sent, ...after } = await poll({}, { kept, more: { getCredentials } });
		expect(error).toBe(thrown);
		expect(error).not.toMatchObject({ failure: expect.anything() as object });
		expect([sent, after.kept]).toStrictEqual([[], kept]);
	});

	test('a poll whose credential is not filled in says so, and that somebody has to act', async () => {
		const { error, sent } = await poll({}, { credential: { baseUrl: '' } });
		expect(error).toMatchObject({ node: NODE, failure: { cause: 'configuration-invalid' } });
		expect(error?.message).toContain('Base URL');
		expect(sent).toEqual([]);
	});

	test('a poll of a balance without credits says so, and what is remembered stays', async () => {
		const kept = { firedBelowCredits: 1000, usedCredits: 5 };
		const { error, ...after } = await poll({ remain_balance: 5 }, { kept });
		expect(error?.message).toMatch(/credits/);
		expect(after.kept).toStrictEqual(kept);
	});
});

describe('the callback of a browser', () => {
	beforeEach(() => jest.useFakeTimers({ now: 1_800_000_000_000 }));
	afterEach(() => jest.useRealTimers());

	const verified = { verify_status: 'verified', group_id: 'rg_1' };
	const VERIFIED = 'You are verified';
	const NOT_VERIFIED = 'Not verified';
	const RECEIVED = 'Thank you';
	const person = { taskId: 'rav_1', reference: 'r_1', atMs: 1_800_000_000_000 };
	const address = '/webhook/1?reference=r_2&resultCode=10000&vendorToken=vt_1';

	/** Workflows of their own, because the process remembers their callbacks. */
	let workflows = 0;

	/** A trigger in a workflow that has created these verifications, and whose service gives these answers in turn. */
	function trigger(
		answers: Array<object | number>,
		known: Record<string, object> = { vt_1: person },
		{ credential, workflow = `t${workflows++}`, node, more }: LightOptions & { workflow?: string } = {},
	) {
		let url = '';
		let mode = 'webhook';
		const staticData = {};
		const queries: unknown[] = [];
		const timeouts: unknown[] = [];
		const answered: { status?: number; headers?: object; html?: string } = {};
		const response = {
			status: (status: number) => (Object.assign(answered, { status }), response),
			set: (headers: object) => (Object.assign(answered, { headers }), response),
			send: (html: string) => (Object.assign(answered, { html }), response),
		};
		const light = lightContext({
			...{ credential, node },
			answer: ({ qs, timeout }) => {
				queries.push(qs);
				timeouts.push(timeout);
				return answers[Math.min(queries.length, answers.length) - 1] as object;
			},
			more: {
				...{ getMode: () => mode, getWorkflow: () => ({ id: workflow }), getWorkflowStaticData: () => staticData },
				...{ getRequestObject: () => ({ originalUrl: url }), getResponseObject: () => response },
				...more,
			},
		});
		const context = light.context as unknown as IWebhookFunctions;
		for (const [token, verification] of Object.entries(known))
			rememberVerification(memoryOf(context), token, verification as never);
		const call = async (to = address, as = 'webhook') => {
			[url, mode] = [to, as];
			const { workflowData, noWebhookResponse } = await untilDone(answerCallback(context));
			const [, title] = /<title>(.*)<\/title>/.exec(answered.html ?? '') ?? [];
			const items = workflowData as INodeExecutionData[][] | undefined;
			return { ...answered, title, noWebhookResponse, item: items?.[0]?.[0]?.json };
		};
		return { ...light, call, queries, timeouts, memory: memoryOf(context) };
	}

	test('the callback of a person who has passed starts the workflow with the group, once', async () => {
		const { call, queries, memory } = trigger([verified]);
		expect(await call()).toEqual({
			...{ status: 200, title: VERIFIED, noWebhookResponse: true },
			html: expect.stringMatching(/^<!DOCTYPE html>/) as string,
			headers: {
				'content-type': 'text/html; charset=utf-8',
				...{ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' },
			},
			item: {
				...{ confirmed: true, verified: true, ...verified, task_id: 'rav_1', vendor_token: 'vt_1' },
				...{ result_code: '10000', reference: 'r_1' },
			},
		});
		expect(queries).toEqual([{ task_id: 'rav_1', vendor_token: 'vt_1', result_code: '10000' }]);
		expect(recallVerification(memory, 'vt_1', person.atMs)).toEqual({ ...person, told: true });
		const again = await call();
		expect([again.title, again.item, queries.length]).toEqual([VERIFIED, undefined, 1]);
	});

	test('the callback that has started the workflow before a restart does not do so again', async () => {
		const { call, queries } = trigger([verified], { vt_1: { ...person, told: true } });
		const { title, item } = await call();
		expect([title, item, queries.length]).toEqual([VERIFIED, undefined, 0]);
	});

	test('the callback of a person who has not passed starts the workflow once, and again when they have', async () => {
		const { call, memory } = trigger([{ verify_status: 'failed' }, { verify_status: 'failed' }, verified]);
		const failed = await call();
		expect([failed.title, failed.item]).toMatchObject([NOT_VERIFIED, { confirmed: true, verified: false }]);
		expect(recallVerification(memory, 'vt_1', person.atMs)).toEqual({ ...person, toldUnverified: true });
		expect(await call()).toMatchObject({ title: NOT_VERIFIED, item: undefined });
		expect(await call()).toMatchObject({ title: VERIFIED, item: { verified: true } });
		expect(recallVerification(memory, 'vt_1', person.atMs)).toMatchObject({ ...person, told: true });
	});

	test('what the service has said of a person counts, also where it cannot be asked again', async () => {
		const { call, queries } = trigger([{ verify_status: 'pending' }, 400]);
		expect((await call()).item).toMatchObject({ confirmed: true, verified: false, verify_status: 'pending' });
		expect(queries.length).toBeGreaterThan(1);
	});

	test.each<[string, object | number, string]>([
		['has failed', { verify_status: 'failed' }, NOT_VERIFIED],
		['is open', { verify_status: 'pending' }, RECEIVED],
		['could not be fetched', 401, RECEIVED],
	])(
		'the callback of a verification that %s does not start the workflow again after a restart, until it is verified',
		async (_, answer, title) => {
			const before = trigger([answer]);
			expect((await before.call()).item).toMatchObject({ verified: false });
			const kept = recallVerification(before.memory, 'vt_1', Date.now());
			// Another workflow: the process remembers no callback of it, as after a restart.
			const repeated = await trigger([answer], { vt_1: kept as object }).call();
			expect([repeated.title, repeated.item]).toEqual([title, undefined]);
			const after = trigger([verified], { vt_1: kept as object });
			expect((await after.call()).item).toMatchObject({ verified: true });
			const told = recallVerification(after.memory, 'vt_1', Date.now());
			expect((await trigger([verified], { vt_1: told as object }).call()).item).toBeUndefined();
		},
	);

	test.each<[string, Array<object | number>, number[], object]>([
		['has no result at first', [404, verified], [0, 1], { title: VERIFIED }],
		['says pending at first', [{ verify_status: 'pending' }, {}, verified], [0, 1, 3], { title: VERIFIED }],
		[
			'says pending for long',
			[{ verify_status: 'pending' }],
			[0, 1, 3],
			{
				title: RECEIVED,
				item: {
					...{ confirmed: true, verified: false, verify_status: 'pending' },
					next_step: expect.stringContaining('Get Result') as string,
				},
			},
		],
		['has no result for long', [404], [0, 1, 3], { title: RECEIVED, item: { confirmed: false, verified: false } }],
		['does not take the key', [401], [0], { title: RECEIVED, item: { confirmed: false, verified: false } }],
	])('the person waits for the page while the service %s', async (_, answers, seconds, expected) => {
		const { call, sent, logged } = trigger(answers);
		const outcome = await call();
		expect(outcome).toMatchObject(expected);
		expect(sent.map(({ atMs }) => Math.floor((atMs - person.atMs) / 1000))).toEqual(seconds);
		if (outcome.item?.confirmed !== false) return;
		expect(outcome.item).toMatchObject({
			reason: expect.stringMatching(/^The result could not be fetched: .+\.$/) as string,
			next_step: expect.stringContaining('Get Result') as string,
		});
		expect(logged.join()).toMatch(/the result of verification rav_1 could not be fetched: .+/);
	});

	test('a result that could not be fetched is looked up anew by the next callback', async () => {
		const { call } = trigger([401, verified]);
		expect((await call()).item).toMatchObject({ confirmed: false });
		expect((await call()).item).toMatchObject({ confirmed: true, verified: true });
	});

	test('a callback whose credential cannot be read starts the workflow unconfirmed', async () => {
		const { call, sent } = trigger([verified], undefined, { credential: { baseUrl: '' } });
		expect(await call()).toMatchObject({
			title: RECEIVED,
			item: { confirmed: false, reason: expect.stringContaining('Base URL') as string },
		});
		expect(sent).toEqual([]);
	});

	test('a callback whose credential n8n cannot read starts the workflow unconfirmed, with the words of n8n', async () => {
		const getCredentials = async () => await Promise.reject(new Error('The vault\ndoes not answer.'));
		const { call, logged, sent } = trigger([verified], undefined, { more: { getCredentials } });
		const { title, item } = await call();
		expect(title).toBe(RECEIVED);
		expect(item).toMatchObject({
			confirmed: false,
			reason: 'The result could not be fetched: The vault does not answer.',
		});
		expect(logged).toEqual([expect.stringMatching(/rav_1 could not be fetched: The vault does not answer\.?$/)]);
		expect(sent).toEqual([]);
	});

	test.each<[string, Array<object | number>, object | undefined]>([
		['the service hangs', [new Promise(() => {})], undefined],
		['the service cannot answer for long', [503], undefined],
		['n8n does not give the credential', [verified], { getCredentials: async () => await new Promise(() => {}) }],
	])('the person sees a page within 15 seconds while %s', async (_, answers, more) => {
		const { call, timeouts, logged } = trigger(answers, undefined, { more });
		const { title, item } = await call();
		expect(Date.now() - person.atMs).toBeLessThan(15_000);
		expect([title, item]).toMatchObject([
			RECEIVED,
			{ confirmed: false, verified: false, reason: expect.stringMatching(/could not be fetched: .+[^.]\.$/) as string },
		]);
		expect(timeouts.filter((timeout) => Number(timeout) > 10_000)).toEqual([]);
		expect(logged).toEqual([expect.stringMatching(/verification rav_1 could not be fetched: .+/)]);
		const sentSoFar = timeouts.length;
		await jest.advanceTimersByTimeAsync(120_000);
		expect(timeouts).toHaveLength(sentSoFar);
	});

	test('what n8n says of a credential is told as it is, but for its full stop', async () => {
		const words = 'Vault 1.2 is down.';
		const getCredentials = async () => await Promise.reject(new Error(words));
		const { call } = trigger([verified], undefined, { more: { getCredentials } });
		expect((await call()).item?.reason).toMatch(/could not be fetched: .*Vault 1\.2 is down\.$/);
	});

	test('a lookup that ends early leaves no timer behind', async () => {
		await trigger([verified]).call();
		expect(jest.getTimerCount()).toBe(0);
	});

	test('where no answer comes, the reason says for how long', async () => {
		const { call } = trigger([new Promise(() => {})]);
		expect((await call()).item?.reason).toBe('The result could not be fetched: no answer within 10 seconds.');
	});

	test('an open result after which the service hangs is what the workflow starts with', async () => {
		const { call } = trigger([{ verify_status: 'pending' }, new Promise(() => {})]);
		const { title, item } = await call();
		expect(Date.now() - person.atMs).toBeLessThan(15_000);
		expect([title, item]).toMatchObject([RECEIVED, { confirmed: true, verified: false }]);
	});

	test('an ID of the service cannot end the line of the log', async () => {
		const taskId = 'rav_1\n2026-01-01 root logged in\u001b[2J\u202e';
		for (const answer of [401, 404]) {
			const { call, logged } = trigger([answer], { vt_1: { ...person, taskId } });
			expect((await call()).item).toMatchObject({ confirmed: false, task_id: taskId });
			expect(logged).toEqual([expect.stringContaining('verification rav_1 2026-01-01 root logged in [2J  could not')]);
			expect(logged.join()).not.toMatch(/[\p{Cc}\u202e]/u);
		}
	});

	test('callbacks at the same moment share one lookup, and one of them starts the workflow', async () => {
		const { call, queries } = trigger([verified]);
		const [one, other] = await Promise.all([call(), call()]);
		expect([one?.item, other?.item].filter((item) => item !== undefined)).toHaveLength(1);
		expect(queries).toHaveLength(1);
	});

	test('the callback of a verification of which nothing is known starts the workflow unconfirmed, without a lookup', async () => {
		const { call, sent } = trigger([verified], {});
		expect((await call()).item).toEqual({
			...{ confirmed: false, verified: false, vendor_token: 'vt_1', result_code: '10000' },
			reference_unconfirmed: 'r_2',
			reason: expect.stringContaining('did not create the verification') as string,
			next_step: expect.stringContaining('Get Result') as string,
		});
		expect((await call()).item).toBeUndefined();
		expect((await call(address.replace('vt_1', 'vt_2'))).item).toMatchObject({ vendor_token: 'vt_2' });
		expect(sent).toEqual([]);
	});

	test('the reference in the address is unconfirmed where the verification was created without one', async () => {
		const { call } = trigger([{ ...verified, result_code: 7 }], { vt_1: { ...person, reference: undefined } });
		const { item } = await call();
		expect(item).toMatchObject({ reference_unconfirmed: 'r_2', result_code: 7 });
		expect(item).not.toHaveProperty('reference');
	});

	test('each test of the trigger starts the workflow, and counts for no later callback', async () => {
		const { call } = trigger([verified]);
		for (let time = 0; time < 2; time++)
			expect(await call(address, 'manual')).toMatchObject({ title: VERIFIED, item: { verified: true } });
		expect((await call()).item).toMatchObject({ verified: true });
		expect((await call(address, 'manual')).item).toMatchObject({ verified: true });
	});

	test.each([[''], ['?resultCode=10000'], ['?vendorToken='], ['?vendorToken=%20']])(
		'a callback without a vendor token, %j, is incomplete',
		async (query) => {
			const { call, sent } = trigger([verified]);
			expect(await call(`/webhook/1${query}`)).toMatchObject({ status: 400, item: undefined });
			expect(sent).toEqual([]);
		},
	);

	test.each([
		['as it is', 'a+b'],
		['as a space', 'a b'],
	])('a + in a vendor token is read %s where the workflow knows it so', async (_, token) => {
		const { call, queries } = trigger([verified], { [token]: person });
		expect((await call('/webhook/1?vendorToken=a+b')).item).toMatchObject({ verified: true, vendor_token: token });
		expect(queries).toEqual([{ task_id: 'rav_1', vendor_token: token }]);
	});

	test.each<[string, Array<object | number>, string[], boolean]>([
		['has one', [verified], ['1+0'], true],
		['has one for the space', [404, verified], ['1+0', '1 0'], true],
		['has none for either', [404], ['1+0', '1 0', '1+0', '1 0', '1+0', '1 0'], false],
		['refuses the key', [401], ['1+0'], false],
		['refuses the key when it is asked again', [404, 401], ['1+0', '1 0'], false],
	])(
		'a + in a result code is tried as a space, too, where the service has no result: it %s',
		async (_, answers, codes, confirmed) => {
			const { call, queries } = trigger(answers);
			const { item } = await call(address.replace('10000', '1+0'));
			expect(item).toMatchObject({ confirmed, result_code: '1+0' });
			expect(queries.map((query) => (query as { result_code: string }).result_code)).toEqual(codes);
		},
	);

	test('of callbacks that nobody knows a trigger takes a hundred a minute; those that it knows, and those of other triggers, are not held up', async () => {
		jest.setSystemTime(person.atMs + 600_000);
		const workflow = `t${workflows++}`;
		const flooded = trigger([verified], { vt_1: { ...person, atMs: Date.now() } }, { workflow });
		const flood = async (token: string) => await flooded.call(`/webhook/1?vendorToken=${token}`);
		for (let index = 0; index < 100; index++) expect((await flood(`x_${index}`)).item).toBeDefined();
		expect(await flood('y')).toMatchObject({ status: 200, title: 'One moment, please', item: undefined });
		expect(flooded.logged).toEqual([expect.stringContaining('more than 100 within a minute')]);
		expect((await flooded.call()).item).toMatchObject({ verified: true });
		for (const other of [
			trigger([verified], {}, { workflow, node: { id: 'other' } }),
			trigger([verified], {}, { node: { id: NODE.id } }),
		])
			expect((await other.call('/webhook/1?vendorToken=y')).item).toBeDefined();
		jest.setSystemTime(Date.now() + 60_000);
		expect(await flood('y')).toMatchObject({ title: RECEIVED, item: { vendor_token: 'y' } });
	});
});
