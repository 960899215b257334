/** The ports through which the engine reaches a run: its own things, the clock, and what is absent in some runs. */
import type { Product } from '../../core/orders/product';
import { FirstWave } from '../../core/orders/firstWave';
import { realClock } from '../../nodes/connection/transport';
import { portsOf } from '../../nodes/run/run';
import { batchOf, plannedOrder } from '../support/orders.mts';

const product = { status: 'queued', output: () => ({ json: {} }) } as unknown as Product<{ id: string }, unknown>;

function portsIn(more: object = {}, count = 1) {
	const uploadImage = jest.fn(
		async ({ fileName }: { fileName: string }) => await Promise.resolve(`https://${fileName}`),
	);
	const run = {
		...{ client: { uploadImage }, ledger: {}, writeAhead: {}, log: {}, progress: { watch: () => ({}) } },
		...{ files: new Map(), ...more },
	};
	return { run, uploadImage, ports: portsOf(run as never, product, count) };
}

test('the engine reaches the client, the memory, the log and the progress of its run, and real time', () => {
	const { run, ports } = portsIn();
	const { client, ledger, writeAhead, log, progress } = run;
	expect(ports).toMatchObject({ product, clock: realClock });
	for (const [mine, its] of [
		[ports.client, client],
		[ports.ledger, ledger],
		[ports.writeAhead, writeAhead],
		[ports.events, log],
		[ports.watch, progress.watch],
		[ports.product, product],
	])
		expect(mine).toBe(its);
	expect(ports.firstWave).toBeUndefined();
});

test('the engine finds the files of an order, and uploads them through the client', async () => {
	const [order, other] = [plannedOrder(0), plannedOrder(1)];
	const files = new Map([['reference', {}]]);
	const { ports, uploadImage } = portsIn({ files: new Map([[order, files]]) });
	expect(ports.filesOf(order)).toBe(files);
	expect(ports.filesOf(other)).toEqual(new Map());
	const image = { fileName: 'a.png', mimeType: 'image/png', bytes: new Uint8Array() };
	expect(await ports.uploadImage(image)).toBe('https://a.png');
	expect(uploadImage).toHaveBeenCalledWith(image);
});

test('with the purchase log, each purchase is recorded', () => {
	const { ports } = portsIn({ purchases: {} });
	expect(ports.product).not.toBe(product);
	expect(ports.product).toHaveProperty('record');
});

test('orders that go on in another execution are submitted in a wave, as many at once as their run may have', async () => {
	const { ports } = portsIn({ batch: batchOf({ places: 2 }) }, 3);
	expect(ports.firstWave).toBeInstanceOf(FirstWave);
	void ports.firstWave?.accepted();
	expect(ports.firstWave?.signal.aborted).toBe(false);
	void ports.firstWave?.accepted();
	expect(ports.firstWave?.signal.aborted).toBe(true);
	const few = portsIn({ batch: batchOf({ places: 5 }) }, 1);
	void few.ports.firstWave?.accepted();
	expect(few.ports.firstWave?.signal.aborted).toBe(true);
});
