import type { IExecuteFunctions } from 'n8n-workflow';
import type { Batch } from '../../core/orders/batch';
import type { Order } from '../../core/orders/order';
import { namesKept, type WaveNameStore } from '../../core/orders/waveNames';
import type { WriteAheadStore } from '../../core/orders/writeAheadLog';
import { recordOf } from '../run/writeAheadStore';

/** The names of the waves of a run, in n8n's table of processed data: under the name of the run of the node that has begun it. */
export function waveNames(context: IExecuteFunctions, batch?: Pick<Batch, 'name'>): WaveNameStore {
	const run = batch?.name ?? context.getExecutionId();
	const nameOf = (wave: number) => `${run}, wave ${wave}`;
	return {
		record: async (waves) => {
			const known = new Set(await namesOf(context).record(waves.map(nameOf)));
			return waves.filter((wave) => known.has(nameOf(wave)));
		},
		isComplete: async () => {
			// The node has written it before anything was submitted, and n8n drops the oldest names.
			const store = namesOf(context);
			const isThere = (await store.record([run])).length > 0;
			// To ask for a name is to write it, and the next one to ask must not find it.
			if (!isThere) await store.remove([run]);
			return isThere;
		},
		forget: async (waves) => await namesOf(context).remove(waves.map(nameOf)),
	};
}

/** Removes the names of a run that has ended, where all is saved that they tell. */
export async function forgetWaves(context: IExecuteFunctions, orders: readonly Order[]): Promise<void> {
	const batch = orders.find((order) => order.batch !== undefined)?.batch;
	const kept = namesKept(batch?.waves ?? 0);
	// What is left is dropped some day: n8n keeps the latest names only.
	if (kept.length > 0)
		await waveNames(context, batch)
			.forget(kept)
			.catch(() => {});
}

function namesOf(context: IExecuteFunctions): WriteAheadStore {
	const store = recordOf(context);
	if (store === undefined) throw new Error('n8n has no table of processed data');
	return store;
}
