/** The table of docs/reference/limits.md, from the constants that the code goes by. */
import { DEFAULT_REQUESTS_PER_SECOND, LONGEST_HOLD_MS, MOST_REQUESTS_PER_SECOND } from '../../core/account/pace.ts';
import { UPLOAD_TIMEOUT_MS } from '../../core/client.ts';
import { ANSWER_LIMITS, MOST_UNDER_WAY } from '../../core/http/readAnswer.ts';
import { READ_TIMEOUT_MS } from '../../core/http/requests.ts';
import { KEY_MS } from '../../core/journal/purchaseKey.ts';
import { REUSED_FOR_MS } from '../../core/journal/reuse.ts';
import { CREATE_TIMEOUT_MS, REPEAT_FOR_MS, VERIFICATION_LINK_SECONDS } from '../../core/limits.ts';
import { DELIVERIES_IN_PARALLEL } from '../../core/engine/jobs.ts';
import { MAX_PROMPT_LENGTH, MAX_REQUEST_URLS } from '../../core/orders/order.ts';
import { NEW_TASK_GRACE_MS } from '../../core/polling/waitForTask.ts';
import { LONG_GAP_MS, LONGEST_GAP_MS, SHORTEST_GAP_MS } from '../../core/polling/planner.ts';
import { FILE_LIMITS } from '../../nodes/generation/fileLimits.ts';
import {
	concurrentTasksOption,
	imageTimeoutOption,
	LONGEST_TIMEOUT_MINUTES,
	videoTimeoutOption,
} from '../../nodes/form/options.ts';
import { DOWNLOAD_TRIES } from '../../nodes/generation/downloads.ts';
import { MOST_BYTES_ALONG } from '../../nodes/generation/generate.ts';
import { MOST_ROWS, NEEDED_MS, OLD_MS } from '../../nodes/journal/cleanUp.ts';
import { DURABLE_TIMEOUT_MINUTES } from '../../nodes/run/buy.ts';

const number = (value: number) => value.toLocaleString('en-US');
const mib = (bytes: number) => (bytes % 2 ** 30 === 0 ? `${bytes / 2 ** 30} GiB` : `${bytes / 2 ** 20} MiB`);

/** In the largest unit that it fills: "2 minutes". */
function span(ms: number): string {
	const units: Array<[string, number]> = [
		['day', 86_400_000],
		['hour', 3_600_000],
		['minute', 60_000],
	];
	const [unit, size] = units.find(([, each]) => ms >= each && ms % each === 0) ?? ['second', 1000];
	return `${ms / size} ${unit}${ms === size ? '' : 's'}`;
}

const minutes = (value: unknown) => span(Number(value) * 60_000);

const LIMITS: Array<[group: string, rows: Array<[what: string, limit: string]>]> = [
	[
		'Sending and waiting',
		[
			['**Requests per Second**', `${DEFAULT_REQUESTS_PER_SECOND}; at most ${number(MOST_REQUESTS_PER_SECOND)}`],
			[
				'**Concurrent Tasks** of a node',
				`${String(concurrentTasksOption.default)}; at most ${number(Number(concurrentTasksOption.max))}`,
			],
			['**Timeout**, images, videos', `${minutes(imageTimeoutOption.default)}, ${minutes(videoTimeoutOption.default)}`],
			['**Timeout**, *Across Restarts* and *In Another Workflow*', minutes(DURABLE_TIMEOUT_MINUTES)],
			['**Timeout**, longest', minutes(LONGEST_TIMEOUT_MINUTES)],
			['A purchase is sent again after a 429, and a 503 of the gateway itself', span(REPEAT_FOR_MS)],
			['Pause of all requests after a 429, longest', span(LONGEST_HOLD_MS)],
			[
				'Checks of a task, apart',
				`${SHORTEST_GAP_MS / 1000} seconds, up to ${span(LONG_GAP_MS)} or its age, at most ${span(LONGEST_GAP_MS)}`,
			],
			['A new task that answers 401, 402, 403 or 404 is checked on', span(NEW_TASK_GRACE_MS)],
			[
				'Answer to a check, a purchase, an upload',
				`${span(READ_TIMEOUT_MS)}, ${span(CREATE_TIMEOUT_MS)}, ${span(UPLOAD_TIMEOUT_MS)}`,
			],
			['Link of a verification', `${VERIFICATION_LINK_SECONDS} seconds`],
		],
	],
	[
		'Sizes',
		[
			['Prompt in the output and in stored orders', `${number(MAX_PROMPT_LENGTH)} characters`],
			['**Pass Along**, per item', `${MOST_BYTES_ALONG / 1024} kB`],
			['URLs in a request, *Across Restarts* and *In Another Workflow*', number(MAX_REQUEST_URLS)],
			[
				'One answer',
				`${ANSWER_LIMITS.megabytes} MB or ${ANSWER_LIMITS.values} values; ${ANSWER_LIMITS.megabytesWithFiles} MB if it contains files`,
			],
			['All large answers together', mib(MOST_UNDER_WAY)],
		],
	],
	[
		'Result files of a task',
		[
			['Files', String(FILE_LIMITS.files)],
			[
				'Size of all, unpacked',
				`${mib(FILE_LIMITS.bytes)}; ${mib(FILE_LIMITS.bytesInMemory)} if n8n stores files in memory, its database, S3 or Azure`,
			],
			['Until a file begins, without a byte', `${span(FILE_LIMITS.openMs)}, ${span(FILE_LIMITS.silenceMs)}`],
			['Slowest speed', `${FILE_LIMITS.bytesPerSecond / 1000} KB per second, in every ${span(FILE_LIMITS.graceMs)}`],
			['All files', span(FILE_LIMITS.taskMs)],
			['Tries of a file', `${DOWNLOAD_TRIES}, within ${span(FILE_LIMITS.triesMs)}`],
			// The 12 are `limitSlowDeliveries` in core/processMemory.ts.
			[
				'Tasks of a run that download in parallel',
				`${DELIVERIES_IN_PARALLEL}, and up to 12 slow ones (over ${span(FILE_LIMITS.turnMs)}) of all runs in the process`,
			],
		],
	],
	[
		'Purchase log',
		[
			['**Reuse While Building** finds tasks of', `the last ${span(REUSED_FOR_MS)}`],
			['A **Purchase Key** is bought once in', span(KEY_MS)],
			['Rows are kept', span(OLD_MS)],
			[`Of more than ${number(MOST_ROWS)} rows, needed ones are kept`, span(NEEDED_MS)],
		],
	],
];

export const describeLimits = (): string =>
	LIMITS.map(([group, rows]) =>
		[`## ${group}`, '', '| What | Limit |', '|---|---|', ...rows.map((cells) => `| ${cells.join(' | ')} |`)].join('\n'),
	).join('\n\n');
