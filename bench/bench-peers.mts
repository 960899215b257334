/**
 * `npm run bench:peers`: the same job in a real n8n with this package and with n8n's own nodes. Prints a table, and
 * writes the table and the picture of docs/evidence/speed.md. `npm run bench:peers -- loop x12s` measures the cases
 * with one of these words in their names, such as "loop-10x12s", and writes nothing.
 */
import { startInstance } from '../test/n8n/support/instance.mts';
import { atEnd } from '../tools/processes/end.mjs';
import { say, step } from '../tools/report/step.mjs';
import { cases, measure, times, type Case, type Figure, type Row } from './peers/measure.mts';
import { writePages } from './peers/pages.mts';
import { makePeers, type Peer, type PeerName } from './peers/peers.mts';
import { startStandIn } from './peers/standIn.mts';

/** Seconds of tasks, one after the other. More is computed: a peer that works in turn takes several times as long. */
const longestInTurnSeconds = 30;

export default async function benchPeers(words: string[]) {
	const standIn = await startStandIn();
	atEnd(() => standIn.close());
	const instance = await step('Starting n8n and the sandbox', () => startInstance());
	atEnd(() => instance.close());
	const peers = await makePeers(instance, standIn);

	const figures = new Map<string, Figure>();
	const nameOf = ({ name }: Peer, { tasks, taskSeconds }: Case) => `${name}-${tasks}x${taskSeconds}s`;
	for (const peer of peers) {
		for (const each of cases) {
			const name = nameOf(peer, each);
			if (words.length > 0 && !words.some((word) => name.includes(word))) continue;
			const one = figures.get(nameOf(peer, { ...each, tasks: 1 }));
			const isTooLong = peer.inTurn && each.tasks > 1 && each.tasks * each.taskSeconds > longestInTurnSeconds;
			if (!isTooLong) figures.set(name, await shown(name, () => measure(instance, peer, each)));
			else if (one) figures.set(name, times(each.tasks, one));
		}
	}
	if (words.length > 0) return;

	const figuresOf = (each: Case) =>
		Object.fromEntries(peers.map((peer) => [peer.name, figures.get(nameOf(peer, each))])) as Record<PeerName, Figure>;
	const rows: Row[] = cases.map((each) => ({ ...each, figures: figuresOf(each) }));
	say(`\n${writePages(rows)}\n\nWritten: docs/evidence/speed.md and its picture.`);
}

async function shown(name: string, work: () => Promise<Figure>): Promise<Figure> {
	return await step(name, async (tell) => {
		const figure = await work();
		tell(`${figure.wallSeconds.toFixed(1)} s, ${figure.requests} requests`);
		return figure;
	});
}
