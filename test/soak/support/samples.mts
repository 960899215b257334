/** Memory and timers of n8n's processes, as they report them: see probe.cjs. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Sample {
	atMs: number;
	/** Of the process: another one after a restart. */
	pid: number;
	/** The rest after a garbage collection that frees all it can, compiled code included. */
	heapMb: number;
	timers: number;
}

/** In order. */
export function readSamples(folder: string, port: number): Sample[] {
	const file = join(folder, `${port}.jsonl`);
	if (!existsSync(file)) return [];
	// A process that was killed may have left half a line.
	return readFileSync(file, 'utf8')
		.split('\n')
		.filter((line) => line.endsWith('}'))
		.map((line) => JSON.parse(line) as Sample);
}

/** From one start to the end of the process. */
function livesOf(samples: Sample[]): Sample[][] {
	return [...new Set(samples.map(({ pid }) => pid))].map((pid) => samples.filter((sample) => sample.pid === pid));
}

/** Caches of n8n and of Node fill up first. */
const WARM_UP_MS = 180_000;
/** A line through fewer says nothing. */
const FEWEST = 6;

export interface Process {
	name: string;
	samples: Sample[];
}

interface Span {
	startMs: number;
	endMs: number;
}

/** The line through the heap of each life that was long enough: its value at the end of the warm-up, and at the end. */
export function heapsOf(processes: Process[], { endMs }: Span) {
	return processes.flatMap(({ name, samples }) =>
		livesOf(samples).flatMap((life) => {
			const warm = life.filter(({ atMs }) => atMs > Number(life[0]?.atMs) + WARM_UP_MS && atMs < endMs);
			if (warm.length < FEWEST) return [];
			const [firstMb, lastMb] = lineThrough(
				warm.map(({ atMs }) => atMs),
				warm.map(({ heapMb }) => heapMb),
			);
			return [
				{ name, minutes: Math.round((Number(warm.at(-1)?.atMs) - Number(warm[0]?.atMs)) / 60_000), firstMb, lastMb },
			];
		}),
	);
}

/** The most of each process while nothing ran: before the first execution, and after the last. */
export function idleTimersOf(processes: Process[], { startMs }: Span) {
	const most = (samples: Sample[]) => Math.max(...samples.map(({ timers }) => timers));
	return processes.map(({ name, samples }) => ({
		name,
		before: most(samples.filter(({ atMs }) => atMs < startMs)),
		afterwards: most(samples.slice(-2)),
	}));
}

/** With the least squares. Returns its first and its last value, with one decimal place. */
function lineThrough(times: number[], values: number[]): [number, number] {
	const mean = (numbers: number[]) => numbers.reduce((sum, each) => sum + each, 0) / numbers.length;
	const [meanTime, meanValue] = [mean(times), mean(values)];
	const slope =
		mean(times.map((time, index) => (time - meanTime) * (Number(values[index]) - meanValue))) /
		mean(times.map((time) => (time - meanTime) ** 2));
	const at = (time = 0) => Math.round(10 * (meanValue + slope * (time - meanTime))) / 10;
	return [at(times[0]), at(times.at(-1))];
}
