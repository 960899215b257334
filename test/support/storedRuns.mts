/** An n8n that holds what the files of test/stored have, and the nodes of today in it. */
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { STATES } from '../../core/journal/row';
import { manualRuns, startableWorkflows, verifications } from '../../core/processMemory';
import { realClock } from '../../nodes/connection/transport';
import { fromItem, useJournal } from './journalRuns.mts';
import { quick, runGateway, type RunOptions } from './nodes.mts';
import { PURCHASE_KEYS, readStored, STORED_AT_MS, StoredFiles } from './stored.mts';

/** As 1.0.0 has named it: a product that looks for another one finds no rows. */
const TABLE_NAME = 'Gateway Purchases';

/** An execution, and what n8n has beside it. */
interface Scene {
	rows: { all: unknown[] };
	marks: { all: unknown[] };
}

export const withKey = { ...quick, purchaseKey: '={{ $json.key }}' };

export const items = (...texts: string[]): INodeExecutionData[] =>
	texts.map((prompt, item) => ({ json: { prompt, key: PURCHASE_KEYS[item] } }));

/** A sandbox for all tests of a file, and an n8n with an empty purchase log for each of them. */
export function useStored() {
	const runs = useJournal({ random: () => 0, imageTaskMs: 1, videoTaskMs: 1 });
	let ofTest: StoredFiles;
	const files: Pick<StoredFiles, 'expect' | 'read'> = {
		expect: (file, written) => ofTest.expect(file, written),
		read: <T,>(stored: unknown, agoMs?: number) => ofTest.read<T>(stored, agoMs),
	};

	function fillTable(rows: unknown[]): void {
		const columns = Object.entries(readStored<string>('table.json')).map(([name, type]) => ({ name, type }));
		runs.tables.tables = [{ id: 'log', name: TABLE_NAME, columns, rows: rows as never }];
	}

	beforeEach(() => {
		jest.spyOn(realClock, 'random').mockReturnValue(0);
		for (const memory of [startableWorkflows, verifications, manualRuns]) memory.clear();
		ofTest = new StoredFiles(runs.sandbox);
		fillTable([]);
	});

	const creating = () => runs.sandbox.requests.filter(({ method }) => method === 'POST');

	/** The time at which the first try of a stored execution began. */
	const beganAtMs = (agoMs = 0) => files.read<number>(STORED_AT_MS, agoMs);

	const first = (): RunOptions => ({ mode: 'trigger', kept: { executionId: '1', establishedAt: beganAtMs() } });

	/** The service has the tasks that the scene names, and n8n the rows, and the marks of the node, or of an agent's tool. */
	async function restore<T extends object>(stored: T, agoMs: number, ...texts: string[]): Promise<T> {
		for (const prompt of texts) await runGateway('image', runs.sandbox, { prompt, wait: 'dontWait' });
		runs.sandbox.requests.length = 0;
		const scene = files.read<T & Scene>(stored, agoMs);
		fillTable(scene.rows.all);
		for (const node of ['wf 1', 'wf 100']) runs.record.rows.set(node, scene.marks.all as never);
		return scene;
	}

	/** The rows and marks of now. Rows that are written side by side have the same sequence each time. */
	async function left(): Promise<Scene> {
		const rows: IDataObject[] = await runs.rows();
		let turn = 0;
		const keys = new Map(
			rows.map((row, at) => {
				const { execution, run, state, item } = row;
				if (execution !== rows[at - 1]?.execution) turn++;
				return [row, [turn, run, ['lease', ...STATES, 'run'].indexOf(String(state)), item].join(' ')];
			}),
		);
		const all = [...rows].sort((a, b) => ((keys.get(a) ?? '') < (keys.get(b) ?? '') ? -1 : 1));
		return { rows: { all: all.map((row, index) => ({ ...row, id: index + 1 })) }, marks: { all: runs.record.all() } };
	}

	/** The orders that the node hands to the execution that waits. */
	async function handOver(given: INodeExecutionData[], parameters: IDataObject, options: RunOptions) {
		const form = { ...fromItem, wait: 'acrossRestarts', ...parameters };
		const { handed, data } = await runs.handOver(form, { ...first(), items: given, ...options });
		return { handed: handed[0] as INodeExecutionData[], left: data.executionData?.contextData };
	}

	/** A step of an execution that waits. */
	async function step(
		operation: string,
		given: INodeExecutionData[],
		executionId: string,
		contextData?: object,
		others: Record<string, object> = {},
	) {
		const ofStep = {
			mode: 'integrated' as const,
			kept: { executionId, contextData: contextData as never },
			items: given,
		};
		const { handed, data, error } = await runs.handOver({ operation }, ofStep, {
			[executionId]: { resultData: { runData: {} } },
			...others,
		});
		const { data: output } = data.resultData.runData.Node?.at(-1) ?? {};
		const outputs = output?.main.flatMap((items) => items ?? []) ?? [];
		return { handed: handed[0] ?? [], items: outputs, error, left: data.executionData?.contextData };
	}

	return { runs, files, fillTable, creating, beganAtMs, first, restore, left, handOver, step };
}
