/** Runs that wait for the same task share its reads. */
import { SharedReads } from '../../core/account/accounts';
import { deferred, flushPromises, trouble } from './support';

test('a run that asks while a read is under way gets its answer; afterwards it is read again', async () => {
	const reads = new SharedReads();
	const answer = deferred<string>();
	const get = jest.fn(async () => await answer.promise);
	const asked = [reads.read('task', get), reads.read('task', get), reads.read('task', get)];
	const other = reads.read('other task', async () => 'another');
	await flushPromises();
	expect(get).toHaveBeenCalledTimes(1);
	answer.resolve('running');
	expect(await Promise.all([...asked, other])).toEqual(['running', 'running', 'running', 'another']);
	await reads.read('task', get);
	expect(get).toHaveBeenCalledTimes(2);
});

test('the error of a shared read is that of all who have asked', async () => {
	const reads = new SharedReads();
	const answer = deferred<string>();
	const get = jest.fn(async () => await answer.promise);
	const asked = [1, 2].map(async () => await reads.read('task', get));
	const ends = asked.map(async (one) => await expect(one).rejects.toMatchObject({ kind: 'unavailable' }));
	answer.reject(trouble('unavailable'));
	await Promise.all(ends);
	expect(get).toHaveBeenCalledTimes(1);
});

test('a stop of the run that reads stops nobody else: one of the others reads', async () => {
	const reads = new SharedReads();
	const first = deferred<string>();
	const stopped = reads.read('task', async () => await first.promise);
	const get = jest.fn(async () => 'running');
	const others = [reads.read('task', get), reads.read('task', get)];
	first.reject(trouble('stopped'));
	await expect(stopped).rejects.toMatchObject({ kind: 'stopped' });
	expect(await Promise.all(others)).toEqual(['running', 'running']);
	expect(get).toHaveBeenCalledTimes(1);
});

test('a stop of a run that waits for the read of another one ends its own wait at once', async () => {
	const reads = new SharedReads();
	void reads.read('task', async () => await new Promise(() => {}));
	const stop = new AbortController();
	const waiting = reads.read('task', async () => 'never', stop.signal);
	stop.abort();
	await expect(waiting).rejects.toMatchObject({ kind: 'stopped' });
});
