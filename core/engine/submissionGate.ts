import { gatewayError, stoppedError, type GatewayError } from '../errors';

/** The scope of uploads. No model or group has this name. */
export const UPLOADS = 'uploads';

/**
 * Decides if a job may still submit or upload. An error closes the gate for all jobs that would meet it, too: a 401 or
 * 402 for everything, a 403 for its scope only (a model, a group, uploads), because a key may be limited to some of
 * them; a model that the service does not know for that model. Without a scope: everything.
 */
export class SubmissionGate {
	private readonly closedBy = new Map<string | undefined, GatewayError>();

	private readonly controllers = new Map<string | undefined, AbortController>();

	private isOver = false;

	/** Aborts when the scope is closed: a request that waits for another try is then not sent again. */
	signalOf(scope?: string): AbortSignal {
		const controller = this.controllers.get(scope) ?? new AbortController();
		this.controllers.set(scope, controller);
		if (this.reasonFor(scope) !== undefined) controller.abort();
		return controller.signal;
	}

	close(because: GatewayError, scope?: string): void {
		if (!this.closedBy.has(scope)) this.closedBy.set(scope, because);
		for (const [name, controller] of this.controllers) if (scope === undefined || scope === name) controller.abort();
	}

	/** Nothing may be submitted any more, and no request is the reason: the batch has ended, or the user has stopped it. */
	stop(): void {
		this.isOver = true;
		for (const controller of this.controllers.values()) controller.abort();
	}

	/** The error of an item that is not sent because of another; undefined while its scope is open. */
	reasonFor(...scopes: Array<string | undefined>): GatewayError | undefined {
		for (const scope of [undefined, ...scopes]) {
			const because = this.closedBy.get(scope);
			if (because !== undefined) return gatewayError('notSubmitted', { because: because.message, scope });
		}
		return undefined;
	}

	assertOpen(...scopes: Array<string | undefined>): void {
		const heldBack = this.reasonFor(...scopes);
		if (heldBack !== undefined) throw heldBack;
		if (this.isOver) throw stoppedError();
	}
}
