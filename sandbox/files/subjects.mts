import type { Canvas } from './canvas.mts';
import { ellipse } from './shapes.mts';

/** A thing that is drawn as its emoji, in a field of 32 by 32: paths with their colours. */
export interface Subject {
	parts: { path: string; colour: string }[];
	/** Where it is; most things stand on the ground. */
	at: 'ground' | 'water' | 'sky';
}

const FIELD = 32;
const MOST_SUBJECTS = 2;

const ON_WATER =
	/^(sailboat|ship|ferry|speedboat|canoe|motor-boat|passenger-ship|whale|spouting-whale|dolphin|shark|duck|swan|fish|tropical-fish|octopus|turtle|surfer|person-surfing)$/;
const IN_SKY =
	/^(airplane|helicopter|balloon|kite|rocket|satellite|butterfly|bird|eagle|dove|parachute|flying-saucer|rainbow|dragon|bat|honeybee|owl|comet|ringed-planet|fireworks)$/;
/** Emoji that are whole pictures, or words that mean something else in a prompt. */
const NEVER =
	/^(sun|sunrise|sunset|cityscape|foggy|fog|desert|mountain|motorway|star|sparkles|water-wave|hole|label|pick|lime|dizzy|memo|watch|fly|stadium|divide|multiply|plus|minus|warning|registered|copyright|information|construction|clamp|link|mate|selfie|moon|locked|unlocked|prohibited|khanda|om|cancer|restroom|wireless)$/;

/** Words for emoji of another name. */
const NAMES = new Map(
	`apple red-apple, bike bicycle, boat sailboat, bottle lotion-bottle, cake birthday-cake, car automobile,
	coffee hot-beverage, cup hot-beverage, flower sunflower, heart red-heart, kitten cat, mug hot-beverage,
	perfume lotion-bottle, phone mobile-phone, plane airplane, product lotion-bottle, puppy dog, shoe running-shoe,
	sneaker running-shoe, spaceship rocket, tea hot-beverage, tower tokyo-tower, tree deciduous-tree, wine wine-glass`
		.split(/,\s+/)
		.map((pair) => pair.split(' ') as [string, string]),
);

/** There is no emoji of what n8n users are shown first. */
const LIGHTHOUSE: Subject['parts'] = [
	{ path: 'M5 31c0-3 5-4 11-4s11 1 11 4z', colour: '#6f6a72' },
	{ path: 'M11.5 12h9l2 16h-13z', colour: '#f7f3ec' },
	{ path: 'M11 16h10l.5 4h-11zM10 24h12l.5 4h-13z', colour: '#d8433b' },
	{ path: 'M10 10.500h12v2H10z', colour: '#3a3f4c' },
	{ path: 'M12.500 6h7v5h-7z', colour: '#ffe58a' },
	{ path: 'M11.500 6L16 2l4.500 4z', colour: '#b5322c' },
	{ path: 'M15.400 6h1.200v5h-1.200z', colour: '#3a3f4c' },
	{ path: 'M14.500 25c0-2.500 3-2.500 3 0v3h-3z', colour: '#5a4038' },
];

/** The first things that the words name, in their order; up to three words name one thing. */
export async function subjectsIn(words: string[]): Promise<Subject[]> {
	// Only when needed: reading three thousand emoji takes a moment.
	const { icons } = await import('@iconify-json/fluent-emoji-flat');
	const found = new Map<string, Subject>();
	for (const start of words.keys()) {
		for (const length of [3, 2, 1]) {
			const name = nameOf(words.slice(start, start + length).join('-'), icons.icons);
			if (name === undefined || NEVER.test(name) || found.size === MOST_SUBJECTS) continue;
			const at = IN_SKY.test(name) ? 'sky' : ON_WATER.test(name) ? 'water' : 'ground';
			found.set(name, { at, parts: name === 'lighthouse' ? LIGHTHOUSE : partsOf(icons.icons[name]?.body ?? '') });
			break;
		}
	}
	return [...found.values()];
}

function nameOf(word: string, icons: Record<string, unknown>): string | undefined {
	return [word, word.replace(/s$/, ''), word.replace(/es$/, ''), word.replace(/ies$/, 'y')]
		.map((form) => NAMES.get(form) ?? form)
		.find((name) => name === 'lighthouse' || Object.hasOwn(icons, name));
}

/** The paths of an emoji, which is an SVG of filled paths in all but a few cases. */
function partsOf(body: string): Subject['parts'] {
	const paths = body.matchAll(/<path fill="(#\w+)"[^>]* d="([^"]+)"/g);
	return [...paths].map(([, colour = '', path = '']) => ({ path, colour }));
}

/** The emoji with its shadow; its feet are at `y`, its middle at `x`. */
export function drawSubject(
	canvas: Canvas,
	{ parts, at }: Subject,
	{ x, y, size }: { x: number; y: number; size: number },
): void {
	if (at === 'ground') canvas.fill(ellipse(x, y, size * 0.42, size * 0.055), '#000000', { opacity: 0.22 });
	const place = { x: x - size / 2, y: y - size * 0.94, size: size / FIELD };
	for (const { path, colour } of parts) canvas.fill(path, colour, place);
}
