/** The facts about a kind of thing that texts and items need. */
interface Thing {
	/** The word of people. */
	word: string;
	/** The field of an item that has its ID. */
	idField: string;
	/** The use of one that an earlier try has created, as a sentence. */
	useOfEarlier: string;
}

const THINGS = {
	task: { word: 'task', idField: 'task_id', useOfEarlier: 'Get Result with this task ID returns it.' },
	token: { word: 'API key', idField: 'id', useOfEarlier: 'It was shown only once, so delete it in your account.' },
	verification: {
		word: 'verification',
		idField: 'task_id',
		useOfEarlier: 'Verification → Get with this ID returns it.',
	},
	group: { word: 'group', idField: 'group_id', useOfEarlier: 'The avatar group can be used with this ID.' },
	asset: { word: 'asset', idField: 'asset_id', useOfEarlier: 'Asset → Get with this ID returns it.' },
} as const satisfies Record<string, Thing>;

/** The things that a creating request creates. A new kind of purchase begins in the table above. */
export type CreatedThing = keyof typeof THINGS;

/** Undefined for one that only another version of the package has, in a stored order. */
export const thingOf = (thing?: CreatedThing): Thing | undefined =>
	Object.hasOwn(THINGS, String(thing)) ? THINGS[thing as CreatedThing] : undefined;
