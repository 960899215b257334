import type { Draw } from './draw.mts';

/** What becomes of the table of the purchase log. */
export interface TableFate {
	/** Its uses that fail, from 0. Of the inserts among them, some are in the table, or come there later. */
	failing?: number[];
	/** Its uses that take long. */
	slow?: number[];
	/** After so many inserts n8n refuses more. */
	fullAfter?: number;
	/** A table of another version has the name. */
	hasOtherColumns?: true;
	/** The numbers of the rows begin again when it is cleared. */
	isSqlite?: true;
	events?: TableEvent[];
}

/** What a person does, after so many uses of the table, or so long after each death. */
export interface TableEvent {
	/** `clear half`: the oldest rows go. `restore`: the newest ones. */
	does: 'clear' | 'clear half' | 'rename' | 'restore';
	afterUses?: number;
	afterDeathMs?: number;
}

const KINDS = ['failing', 'failing', 'slow', 'full', 'columns', 'event', 'event', 'event', 'event'] as const;

/** @param dies a process dies in the case */
export function drawTableFate(draw: Draw, dies: boolean): TableFate {
	const kind = draw.from(...KINDS);
	const isSqlite = draw.oneIn(2) ? { isSqlite: true as const } : {};
	if (kind === 'failing') return { failing: draw.list(draw.from(1, 2, 3), () => draw.upTo(draw.from(5, 12))) };
	if (kind === 'slow') return { slow: draw.list(draw.from(1, 2), () => draw.upTo(8)) };
	if (kind === 'columns') return { hasOtherColumns: true };
	if (kind === 'full') return { fullAfter: draw.from(0, 1, 2, 3) };
	const does = draw.from(...(['clear', 'clear', 'clear half', 'rename', 'restore'] as const));
	const event =
		dies && draw.oneIn(1.5)
			? { does, afterDeathMs: draw.upTo(draw.from(200, 110_000)) }
			: { does, afterUses: draw.upTo(8) };
	return { events: [event], ...isSqlite, ...(draw.oneIn(6) ? { failing: [draw.upTo(8)] } : {}) };
}
