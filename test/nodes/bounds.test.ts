/** Numbers that a form, an expression or an agent gives: none of them takes n8n's memory or time, and none is changed. */
import type { IDataObject } from 'n8n-workflow';
import { costOf } from '../support/hostile.mts';
import { pause, quickSandbox, runGateway, startGateway, type Kind, type Sandbox } from '../support/nodes.mts';

let sandbox: Sandbox;
beforeAll(async () => {
	sandbox = await quickSandbox();
});
afterAll(async () => await sandbox.close());
beforeEach(() => sandbox.reset());

interface Bounded {
	kind: Kind;
	label: string;
	/** The name of an option, or of a field of the form itself. */
	option?: string;
	field?: string;
	max: number;
	parameters?: IDataObject;
}

/** Without a wait, the form has no such option. */
const WAITING = { wait: 'untilReady' };

const BOUNDED: Bounded[] = [
	{ kind: 'image', label: 'Concurrent Tasks', option: 'concurrentTasks', max: 10_000 },
	{
		kind: 'image',
		label: 'Polling Interval (Seconds)',
		option: 'pollIntervalSeconds',
		max: 86_400,
		parameters: WAITING,
	},
	{ kind: 'image', label: 'Timeout (Minutes)', option: 'timeoutMinutes', max: 43_200, parameters: WAITING },
	{
		kind: 'avatar',
		label: 'Timeout (Minutes)',
		option: 'timeoutMinutes',
		max: 43_200,
		parameters: { resource: 'asset', operation: 'upload', groupId: 'g', sourceUrl: 'https://files.example/a.png' },
	},
	{
		kind: 'balance',
		label: 'Stop If Below',
		field: 'stopIfBelow',
		max: Number.MAX_SAFE_INTEGER,
		parameters: { operation: 'getAccountBalance' },
	},
];

const formOf = ({ option, field, parameters }: Bounded, value: unknown): IDataObject => ({
	operation: 'generate',
	prompt: 'a',
	wait: 'dontWait',
	...parameters,
	...(field === undefined ? { options: { [String(option)]: value as number } } : { [field]: value as number }),
});

const run = async (field: Bounded, value: unknown) => await runGateway(field.kind, sandbox, formOf(field, value));

describe('a number has a bound', () => {
	test.each(BOUNDED)(
		'$kind: $label refuses a number above its bound before anything is sent, in no time and memory',
		async (field) => {
			for (const number of [2 ** 53, '1e21', Infinity]) {
				const { result, grownMb } = await costOf(async () => await run(field, number));
				expect(result.error?.message).toMatch(
					new RegExp(`^${field.label.replace(/[()]/g, '\\$&')} is .*: it must be (${field.max} or less|a number)`),
				);
				expect(sandbox.requests).toHaveLength(0);
				expect(grownMb).toBeLessThan(50);
			}
		},
	);

	test.each(BOUNDED.filter(({ max }) => max < 1e6))('$kind: $label takes its bound, and no more', async (field) => {
		const { error } = await run(field, field.max + 1);
		expect(error?.message).toBe(`${field.label} is ${field.max + 1}: it must be ${field.max} or less`);
		expect(error?.description).toContain(`Change ${field.label} to a number, ${field.max} or less.`);
		expect(sandbox.requests).toHaveLength(0);
		const { promise } = startGateway(field.kind, sandbox, formOf(field, field.max));
		while (sandbox.requests.length === 0) await pause(5);
		promise.cancel();
		await promise.catch(() => {});
	});
});

test.each<[label: string, parameters: IDataObject]>([
	['Asset ID', { resource: 'asset', operation: 'get', assetId: 'a', waitForActive: false }],
	['Group ID', { resource: 'asset', operation: 'upload', sourceUrl: 'https://files.example/a.png', groupId: 'a' }],
	['Task ID', { resource: 'verification', operation: 'getResult', verificationId: 'a', vendorToken: 'v' }],
])('%s of more characters than an order can keep is refused by its name: %j', async (label, parameters) => {
	const withId = (id: string) =>
		Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, value === 'a' ? id : value]));
	const { error } = await runGateway('avatar', sandbox, withId('x'.repeat(1_001)));
	expect(error?.message).toBe(`${label} has 1001 characters: at most 1000 are allowed`);
	expect(error?.description).toBe(`Shorten ${label}. Nothing was sent.`);
	expect(sandbox.requests).toHaveLength(0);
	await runGateway('avatar', sandbox, withId('x'.repeat(1_000)));
	expect(sandbox.requests).toHaveLength(1);
});
