import type { IDataObject, IExecuteFunctions, INodeExecutionData, INodePropertyOptions } from 'n8n-workflow';
import { onAbort } from '../../core/abort';
import { gatewayError, GatewayError, invalidInput } from '../../core/errors';
import { TABLE_NAME } from '../../core/labels';
import { isPlainObject } from '../../core/json';
import type { HandOver } from '../../core/orders/handOver';
import { OrderLedger, type LedgerScope } from '../../core/orders/ledger';
import { assertOneAccount, createClient } from '../connection/createClient';
import { show } from '../../core/text';
import { toNodeError } from '../errors/toNodeError';
import { FieldReader, OptionsReader } from '../form/fieldReader';
import { waitField, type Waiting } from '../form/fields';
import { concurrentTasksOption, pollIntervalOption, reportCreditsOption } from '../form/options';
import { isTool, isToolRun, READ_TIMEOUT_ALONE_MS, runsAlone, timeAlone, type TimeAlone } from './whereItRuns';
import { HINTS, hintsFor, showHints } from './hints';
import { readLedgerScope, openMarks, openJournal } from './runMemory';
import type { Choices, Durable, Operation, Resource } from './operation';
import { Progress } from './progress';
import { readReuse, tellOfReuse } from './building';
import { readPollPlan } from './buy';
import { reportCredits } from './runCredits';
import { fileHashes } from './requestHash';
import { sharing, type Run } from './nodeRun';
import { refuseAll, runItems, type ItemsToRun } from './runItems';
import { toItems, type ItemContext, type Worked } from './toItem';
import { TaskLog, trace } from './taskLog';

/** Runs the operation that the form says. */
export async function executeOperation(
	context: IExecuteFunctions,
	operations: Choices<Operation>,
	durable?: Durable,
): Promise<INodeExecutionData[][]> {
	const step = durable?.stepOf(String(context.getNodeParameter('operation', 0, '')));
	if (step !== undefined) return await step(context);
	const operation = chosen(context, 'operation', operations);
	return [
		operation instanceof GatewayError
			? await refuse(context, operation, aboutErrors(context))
			: await runOperation(context, operation, durable),
	];
}

export async function executeResource(
	context: IExecuteFunctions,
	resources: Choices<Resource>,
): Promise<INodeExecutionData[][]> {
	const resource = chosen(context, 'resource', resources);
	if (resource instanceof GatewayError) return [await refuse(context, resource, aboutErrors(context))];
	return await executeOperation(context, resource.operations);
}

function chosen<T extends { option: INodePropertyOptions }>(
	context: IExecuteFunctions,
	name: string,
	choices: Choices<T>,
): T | GatewayError {
	const value = context.getNodeParameter(name, 0, choices[0].option.value);
	const choice = choices.find(({ option }) => option.value === value);
	if (choice !== undefined) return choice;
	const label = name === 'operation' ? 'Operation' : 'Resource';
	const known = choices.map(({ option }) => option.name).join(', ');
	return invalidInput(
		`${label} is ${show(value)}, which this node does not have`,
		`Choose one of ${known}. The workflow may come from a newer version of this package.`,
	);
}

/** The facts that the words of an error depend on. */
function aboutErrors(context: IExecuteFunctions, operation?: Operation) {
	const node = context.getNode();
	return {
		node,
		operation: String(operation?.option.value ?? ''),
		describes: operation?.describes,
		// n8n's assistant reads what an agent reads.
		isTool: isTool(node) || runsAlone(context),
		subExecution: context.getMode() === 'integrated' ? context.getExecutionId() : undefined,
	};
}

/** Runs an operation over all items: the part that is the same for every operation. */
async function runOperation(
	context: IExecuteFunctions,
	operation: Operation,
	durable?: Durable,
): Promise<INodeExecutionData[]> {
	const errorContext = aboutErrors(context, operation);
	// When the run has ended, nothing is sent any more, whatever still waits for its turn or for another try.
	const end = new AbortController();
	const forget = onAbort(context.getExecutionCancelSignal(), () => end.abort());
	try {
		let run: Run;
		try {
			run = await prepareRun(context, operation, { signal: end.signal, durable });
		} catch (thrown) {
			return await refuse(context, thrown, errorContext, operation.promptOf);
		}
		const { client, progress } = run;
		const telling = progress.reportUntil(end.signal);
		const worked = await runItems(run, { operation, durable, errorContext }).finally(() => {
			end.abort();
			trace(context, progress.orders, client.requestsSent);
		});
		await telling;
		const output = worked === undefined ? [] : await toOutput(run, worked, errorContext);
		run.log.publish();
		// An agent does not see hints.
		if (!errorContext.isTool) showHints(context, [...hintsOfOutput(run, operation, output), ...run.hints]);
		return output;
	} finally {
		forget();
	}
}

/**
 * The end of a run that could not begin. When a node throws that is to continue, n8n passes on its input as if it had
 * succeeded, also with an error output: so each item gets the error.
 */
async function refuse(
	context: IExecuteFunctions,
	thrown: unknown,
	errorContext: ItemsToRun['errorContext'] & ItemContext,
	promptOf?: Operation['promptOf'],
): Promise<INodeExecutionData[]> {
	if (context.continueOnFail()) return await toItems(context, await refuseAll(context, thrown, promptOf), errorContext);
	throw thrown instanceof GatewayError ? toNodeError(thrown, { ...errorContext, itemIndex: 0 }) : thrown;
}

function hintsOfOutput(run: Run, { option, waitsFor }: Operation, output: INodeExecutionData[]): string[] {
	const buysAgain = option.value === 'generate' && run.reuses !== true;
	return waitsFor === undefined ? [] : hintsFor(output, { what: waitsFor, buysAgain });
}

/**
 * True where the orders go on in another execution. False where n8n cannot wait in its database, or has no table for what is bought
 * there: then the node waits in memory, and a hint says why. In Another Workflow it cannot: throws, before anything is sent.
 */
async function handsOver(run: Run, { buys, durable }: { buys: boolean; durable?: Durable }): Promise<boolean> {
	const { context, waiting, background, hints } = run;
	if (durable === undefined || (waiting !== 'acrossRestarts' && background === undefined)) return false;
	if (background === undefined) {
		if (isToolRun(context)) return false;
		const obstacle = await durable.obstacle(context);
		if (obstacle !== undefined) hints.add(obstacle);
		if (obstacle !== undefined) return false;
	}
	const why = buys ? await run.openJournal() : undefined;
	if (why === undefined) return true;
	if (background !== undefined) throw gatewayError('backgroundNotPossible', { why });
	hints.add(HINTS.awake({ why: `it needs the data table ${TABLE_NAME}, and ${why}` }));
	return false;
}

/** The output items of what has ended; orders that have not ended go on in another execution. */
async function toOutput(run: Run, worked: Worked[], errorContext: ItemContext): Promise<INodeExecutionData[]> {
	if (run.asleep !== undefined) return run.asleep;
	for (const { order } of worked) for (const hint of order?.end?.hints ?? []) run.hints.add(hint);
	if (worked.every(({ error }) => error === undefined)) run.ledger.clearRun();
	const items = await toItems(run.context, worked, errorContext);
	const orders = worked.flatMap(({ order }) => order ?? []);
	await reportCredits(run, orders);
	tellOfReuse(run, orders);
	return items;
}

/**
 * The options of a run, for its first item. Their fields have no switch for expressions, and n8n takes the sign of an
 * expression away that a workflow from elsewhere has there: its text would be refused otherwise. What an expression gives is
 * never evaluated: the words of an agent, or of an item, could read other nodes.
 */
function runOptionsOf(context: IExecuteFunctions): OptionsReader {
	const { options } = context.getNode().parameters;
	const added: IDataObject = isPlainObject(options) ? options : {};
	const stored = Object.entries(added).map(([name, value]) => [name, lacksSign(value) ? `=${value}` : value]);
	const read = (name: string) => {
		const value = added[name];
		if (lacksSign(value)) return context.evaluateExpression(value, 0);
		return context.getNodeParameter(`options.${name}`, 0, null);
	};
	return new OptionsReader(read, Object.fromEntries(stored));
}

const lacksSign = (value: unknown): value is string =>
	typeof value === 'string' && !value.startsWith('=') && value.includes('{{');

/** Reads the options of the whole run for the first item; other mistakes in that item become its own error. */
async function prepareRun(
	context: IExecuteFunctions,
	operation: Operation,
	{ signal, durable }: { signal: AbortSignal; durable?: Durable },
): Promise<Run> {
	const settings = readSettings(context, operation);
	const { waiting, alone } = settings;
	if (alone !== undefined) assertNeedsNoSleep(alone, waiting);
	await assertOneAccount(context, sleeps(waiting) ? nameOfWait(waiting) : undefined);
	const background = waiting === 'inAnotherWorkflow' ? await durable?.readBackground(context) : undefined;
	const log = new TaskLog(context);
	const noun = operation.waitsFor === 'task' ? nounOf(context) : undefined;
	const progress = new Progress({ console: (line) => log.writeToConsole(line), noun });
	const ledger = new OrderLedger(readLedgerScope(context));
	const readTimeoutMs = alone && READ_TIMEOUT_ALONE_MS;
	const client = await createClient(context, { signal, onRetry: progress.retrying, readTimeoutMs });
	const run: Run = {
		...settings,
		...{ context, client, ledger, log, progress, background },
		marks: openMarks(context, ledger),
		hints: new Set(),
		handsOver: false,
		files: new Map(),
		shared: sharing(),
		fileHash: fileHashes(ledger.scope.store),
		openJournal: once(async () => {
			const opened = await openJournal(context, { ...run, needsRows: background !== undefined });
			if (typeof opened === 'string') return opened;
			run.journal = opened;
			return undefined;
		}),
	};
	run.handsOver = await handsOver(run, { buys: operation.canBuy === true, durable });
	if (run.handsOver) run.retryOnFail = readRetryOnFail(context, ledger.scope);
	return run;
}

/** The settings of the whole run, from its form and from n8n. Throws where an expression in the form gave nothing. */
function readSettings(
	context: IExecuteFunctions,
	{ wait, concurrency = Number(concurrentTasksOption.default), canReuse }: Operation,
): Pick<Run, 'waiting' | 'alone' | 'concurrency' | 'pollPlan' | 'credits' | 'reuses'> {
	const form = new FieldReader((name) => context.getNodeParameter(name, 0, null), context.getNode().parameters);
	const waiting = wait && form.givenChoice(wait);
	const options = runOptionsOf(context);
	for (const option of [concurrentTasksOption, pollIntervalOption, reportCreditsOption]) options.given(option);
	return {
		waiting,
		alone: timeAlone(context),
		concurrency: options.number({ ...concurrentTasksOption, default: concurrency }),
		pollPlan: readPollPlan(options),
		credits: options.flag(reportCreditsOption) ? {} : undefined,
		reuses: canReuse ? readReuse(context, options) : undefined,
	};
}

/** The task in lines of progress. */
const nounOf = (context: IExecuteFunctions) => (context.getNode().type.includes('image') ? 'Image' : 'Video');

const sleeps = (waiting?: Waiting) => waiting === 'acrossRestarts' || waiting === 'inAnotherWorkflow';

const nameOfWait = (waiting?: Waiting) => waitField.options.find(({ value }) => value === waiting)?.name ?? '';

/** Throws where n8n would delete the executions that wait. */
function assertNeedsNoSleep({ time }: TimeAlone, waiting?: Waiting): void {
	if (!sleeps(waiting)) return;
	throw invalidInput(
		`Wait cannot be ${nameOfWait(waiting)} here: n8n runs this node alone for ${time} at most, and then deletes the executions that wait`,
		'Set Wait to Don’t Wait, and get the result later with Get Result and the task ID. To wait, use the node in a workflow.',
	);
}

/** Calls it when it is asked for first. */
function once<T>(get: () => Promise<T>): () => Promise<T> {
	let got: Promise<T> | undefined;
	return async () => await (got ??= get());
}

/** n8n's own bounds of Retry On Fail. */
const TRIES = { min: 2, max: 5, default: 3 };
const PAUSE_MS = { max: 5000, default: 1000 };

/** Retry On Fail, for orders that go on in another execution, where n8n does not play it. Undefined where it is off. */
function readRetryOnFail(context: IExecuteFunctions, scope: LedgerScope): HandOver['retry'] {
	const { retryOnFail = false, maxTries = TRIES.default, waitBetweenTries = PAUSE_MS.default } = context.getNode();
	if (!retryOnFail) return undefined;
	return {
		tries: Math.min(TRIES.max, Math.max(TRIES.min, Math.floor(maxTries) || TRIES.default)),
		pauseMs: Math.min(PAUSE_MS.max, Math.max(0, waitBetweenTries || 0)),
		tried: countTry(scope),
		onlyIfFirstFails: context.continueOnFail(),
	};
}

/** n8n does not tell a node which of its tries it is. But what the node remembers outlives them, and each begins here. */
function countTry({ store, executionId, runIndex }: LedgerScope): number {
	const memory = store as { tried?: { run: string; count: number } };
	const run = `${executionId} ${runIndex}`;
	const count = memory.tried?.run === run ? memory.tried.count + 1 : 1;
	memory.tried = { run, count };
	return count;
}
