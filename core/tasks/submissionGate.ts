import { gatewayError, stoppedError, type GatewayError } from '../errors';

/** Scopes that no model or group is called. */
const EVERYTHING = 'everything';
export const UPLOADS = 'uploads';

/**
 * What may still be submitted. A refusal closes the gate for what it would meet as well: a 401 or 402 for everything,
 * a 403 for its scope only (a model, a group, uploads), because a key may be limited to some of them.
 */
export class SubmissionGate {
	private readonly closedBy = new Map<string, GatewayError>();

	private readonly controllers = new Map<string, AbortController>();

	/** Aborts when the scope is closed: what waits for another try is then not sent again. */
	signalOf(scope = EVERYTHING): AbortSignal {
		const controller = this.controllers.get(scope) ?? new AbortController();
		this.controllers.set(scope, controller);
		if (this.reasonFor(scope) !== undefined) controller.abort();
		return controller.signal;
	}

	close(because: GatewayError, scope = EVERYTHING): void {
		if (!this.closedBy.has(scope)) this.closedBy.set(scope, because);
		for (const [name, controller] of this.controllers) if (scope === EVERYTHING || scope === name) controller.abort();
	}

	/** No reason of its own: the user has stopped the execution. */
	stop(): void {
		for (const controller of this.controllers.values()) controller.abort();
	}

	/** The error of an item that is held back; undefined while its scope is open. */
	reasonFor(...scopes: string[]): GatewayError | undefined {
		for (const scope of [EVERYTHING, ...scopes]) {
			const because = this.closedBy.get(scope);
			if (because !== undefined) return gatewayError('notSubmitted', { because: because.message, scope: scope === EVERYTHING ? undefined : scope });
		}
		return undefined;
	}

	assertOpen(isOver: boolean, ...scopes: string[]): void {
		const heldBack = this.reasonFor(...scopes);
		if (heldBack !== undefined) throw heldBack;
		if (isOver) throw stoppedError();
	}
}
