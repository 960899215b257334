/** The wait for a person: which answers mean that somebody may still pass, and what ends it (contract 3.3). */
import { verificationTarget } from '../../core/avatars/pollTargets';
import type { GatewayError } from '../../core/errors';
import type { HttpResponse } from '../../core/http/types';
import { SurvivalTable } from '../../core/polling/survivalTable';
import { waitForTask } from '../../core/polling/waitForTask';
import { describe as describeError } from '../../core/errors/describe';
import { HTML, json, scriptedClient } from './support';

const SECOND = 1000;
const no = (status: number, words: string) => json(status, { success: false, message: words });
const verified = json(200, { verify_status: 'verified', group_id: 'rg_1' });

/** A wait whose polls, one every 3 s, get these answers in turn; the last one again and again. */
async function wait(
	answers: HttpResponse[],
	{ timeoutMs = 3600 * SECOND, openedBeforeMs }: { timeoutMs?: number; openedBeforeMs?: number } = {},
) {
	const { client, clock } = scriptedClient(answers);
	const startedAtMs = clock.at;
	const fetch = async () => await client.avatars.fetchVerificationResult({ taskId: 'rav_1', vendorToken: 'vt_1' });
	const openedAtMs = openedBeforeMs === undefined ? undefined : startedAtMs - openedBeforeMs;
	const ended = waitForTask(verificationTarget({ taskId: 'rav_1', elapsedMs: 0 }, fetch, openedAtMs), {
		survivalTable: () => new SurvivalTable(),
		backlogMs: () => 0,
		clock,
		startedAtMs,
		timeoutMs,
		plan: { kind: 'fixed', intervalMs: 3 * SECOND },
	});
	const outcome = await ended.then(
		(waited) => ({ ...waited, error: undefined }),
		(error: GatewayError) => ({ record: undefined, timedOut: undefined, trouble: undefined, error }),
	);
	return { ...outcome, seconds: (clock.at - startedAtMs) / SECOND };
}

test.each([400, 403, 404])(
	'a wait for a person goes on after %i until the link has expired and a minute more, then the last words are quoted',
	async (status) => {
		const { error, seconds } = await wait([
			...Array.from({ length: 20 }, () => no(status, 'early')),
			no(status, 'late'),
		]);
		expect(seconds).toBeGreaterThan(180);
		expect(seconds).toBeLessThan(187);
		expect(error?.message).toBe('The person has not passed the verification rav_1 in time');
		expect(describeError(error as GatewayError)).toMatch(
			/^The service says: "late" \(HTTP \d+\)\. The link is valid for 120 seconds\./,
		);
		expect(error?.task).toMatchObject({ taskId: 'rav_1' });
	},
);

test('a person who passes in the last second is not missed', async () => {
	const { record } = await wait([...Array.from({ length: 59 }, () => no(404, 'not yet')), verified]);
	expect(record).toMatchObject({ verified: true, groupId: 'rg_1' });
});

test('where it is known when the link was made, the wait for a person counts from there', async () => {
	expect((await wait([no(404, 'not yet')], { openedBeforeMs: 100 * SECOND })).seconds).toBeLessThan(90);
	expect((await wait([no(404, 'gone')], { openedBeforeMs: 200 * SECOND })).seconds).toBeLessThan(1);
});

test('a page of a firewall says nothing about the person, also after the time of the link', async () => {
	const { record } = await wait([...Array.from({ length: 70 }, () => json(403, HTML)), verified]);
	expect(record?.verified).toBe(true);
});

test('trouble that passes is ridden out beyond the time of the link, and so is a person who is still at it', async () => {
	const open = json(200, { verify_status: 'reviewing' });
	const { record, seconds } = await wait([
		...Array.from({ length: 70 }, (_, poll) => (poll % 2 ? open : json(503, ''))),
		verified,
	]);
	expect(record?.verified).toBe(true);
	expect(seconds).toBeGreaterThan(180);
});
