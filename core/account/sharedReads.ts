import { untilAborted } from '../abort';
import { asGatewayError, stoppedError, type GatewayError } from '../errors';

type Outcome<T> = { value: T } | { error: GatewayError };

/** Reads that are under way for any run of an account: who asks for the same meanwhile gets the same answer. */
export class SharedReads {
	/** By what is read. As many as there are; gone with their requests. */
	private readonly underWay = new Map<string, Promise<unknown>>();

	/** Throws what the read throws; `stopped` only where this run was stopped. */
	async read<T>(what: string, get: () => Promise<T>, signal?: AbortSignal): Promise<T> {
		for (;;) {
			const other = this.underWay.get(what) as Promise<T> | undefined;
			if (other === undefined) return await this.begin(what, get());
			const outcome = await untilAborted(outcomeOf(other), signal);
			if (outcome === undefined) throw stoppedError();
			if ('value' in outcome) return outcome.value;
			if (outcome.error.kind !== 'stopped') throw outcome.error;
		}
	}

	private async begin<T>(what: string, reading: Promise<T>): Promise<T> {
		this.underWay.set(what, reading);
		try {
			return await reading;
		} finally {
			this.underWay.delete(what);
		}
	}
}

async function outcomeOf<T>(reading: Promise<T>): Promise<Outcome<T>> {
	return await reading.then(
		(value) => ({ value }),
		(thrown: unknown) => ({ error: asGatewayError(thrown) }),
	);
}
