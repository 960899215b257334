import type { Clock } from '../clock';
import { gatewayError, GatewayError } from '../errors';
import { unknownOutcome } from '../http/connectionErrors';
import type { JsonObject } from '../json';
import { withUploads, type ImageFile, type PendingFiles } from '../models/images';
import { urlsOfRequest } from '../records/locateResult';
import type { WriteAheadLog } from './writeAheadLog';
import type { LedgerEntry, TaskLedger } from './ledger';
import type { JobControls } from './jobs';
import type { Order } from './order';
import type { Product } from './product';
import { accept, beginSubmitting, retryOf } from './states';

/** Listens to orders, and logs every ID at once. */
export interface OrderEvents {
	/** The service has accepted it. */
	accepted(order: Order): void;
	/** An earlier try has created it. */
	continued(order: Order): void;
	/** It is not running at the service any more. */
	finished(order: Order): void;
}

export interface SubmitPorts {
	/** Remembers what was bought, for the retries of an execution. */
	ledger: TaskLedger;
	/** Remembers that something is about to be bought, for a retry after a crash. */
	writeAhead: WriteAheadLog;
	events: OrderEvents;
	clock: Clock;
	/** The files that the body refers to, which are beside the order. */
	filesOf: (order: Order) => PendingFiles;
	uploadImage: (file: ImageFile) => Promise<string>;
}

/**
 * Creates the thing of one order, once, however often the run is tried. Nothing else creates anything at the service.
 * `core/http/retry.ts` has the rule about sending again, `ledger.ts` remembers for retries, `writeAheadLog.ts` for
 * retries after a crash. Returns the answer; undefined where an earlier try has created it. Throws where an earlier try
 * may have created it.
 */
export async function submit<Answer extends { id: string }>(
	order: Order,
	product: Product<Answer, unknown>,
	ports: SubmitPorts,
	controls: JobControls,
): Promise<Answer | undefined> {
	const { thing, item, request } = order;
	if (request === undefined) throw gatewayError('packageBug', { words: 'an order without a request was submitted' });
	const { hash } = request;
	const { ledger, writeAhead } = ports;
	const known = ledger.find(item, hash);
	if (known !== undefined && known.taskId === undefined && retryOf('outcomeUnknown', request) === 'refuses') {
		throw gatewayError('outcomeStillUnknown', { thing, atMs: known.acceptedAtMs || undefined });
	}
	if (isCreated(known) && (product.isReusable?.(order, known) ?? true)) {
		noteRequestUrls(order, [request.body, known.uploads]);
		return continueWith(order, known, product.status, ports);
	}

	const files = ports.filesOf(order);
	// A retry that may not submit has nothing to upload for.
	if (files.size > 0 && writeAhead.scope.isRetry) await writeAhead.declare(thing, request);
	const urls = await upload(files, ports, controls);
	const body = withUploads(request.body, urls);
	return await controls.submitting(async (signal) => {
		const sending = { body, hash, urls: [...urls.values()], signal };
		return await writeAhead.guard(thing, request, async () => await sendOnce(order, product, ports, sending));
	});
}

/** Uploads the files, which costs nothing. Not called where the thing exists. */
async function upload(
	files: PendingFiles,
	{ uploadImage }: SubmitPorts,
	{ uploading }: JobControls,
): Promise<Map<string, string>> {
	const urls = new Map<string, string>();
	for (const [reference, { read }] of files) {
		urls.set(reference, await uploading(async () => await uploadImage(await read())));
	}
	return urls;
}

interface Sending {
	body: JsonObject;
	/** Of the request, before uploads. */
	hash: string;
	/** The URLs of the uploaded files. */
	urls: string[];
	signal: AbortSignal;
}

type CreatedEntry = LedgerEntry & { taskId: string };

function isCreated(entry: LedgerEntry | undefined): entry is CreatedEntry {
	return entry?.taskId !== undefined;
}

/** Continues with what an earlier try has created. */
function continueWith(
	order: Order,
	{ taskId, acceptedAtMs }: CreatedEntry,
	status: string,
	ports: SubmitPorts,
): undefined {
	accept(order, { taskId, status: order.thing === 'task' ? 'in_progress' : status, elapsedMs: 0 }, acceptedAtMs);
	ports.events.continued(order);
}

async function sendOnce<Answer extends { id: string }>(
	order: Order,
	{ create, status }: Product<Answer, unknown>,
	{ ledger, events, clock }: SubmitPorts,
	{ body, hash, urls, signal }: Sending,
): Promise<Answer> {
	const { item, thing } = order;
	beginSubmitting(order);
	try {
		const answer = await create(order, body, signal);
		const acceptedAtMs = clock.now();
		// Here, not behind the wait: an answer that arrives after a stop must be written down, too.
		ledger.accepted(item, { taskId: answer.id, hash, acceptedAtMs, uploads: urls });
		noteRequestUrls(order, [body, urls]);
		accept(order, { taskId: answer.id, status, elapsedMs: 0 }, acceptedAtMs);
		// A task that an earlier try has created has the whole timeout again.
		if (order.wait) order.wait.startedAtMs = acceptedAtMs;
		events.accepted(order);
		return answer;
	} catch (thrown) {
		// A mistake of our own after the sending says nothing about what the service did.
		const error =
			thrown instanceof GatewayError
				? thrown
				: unknownOutcome(thing, 'The service answered, but the answer could not be read', undefined, thrown);
		if (error.kind !== 'outcomeUnknown') throw error;
		const atMs = clock.now();
		ledger.outcomeUnknown(item, hash, atMs);
		throw error.at(atMs);
	}
}

/** Notes the URLs of the request: a record may repeat them, and they are no result. */
function noteRequestUrls({ result }: Order, request: unknown): void {
	if (result !== undefined) result.requestUrls = [...urlsOfRequest(request)];
}
