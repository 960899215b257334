/**
 * Deliberate breakages of avatars, tokens and triggers, which the simulation does not play: as in `unplayed.mjs`.
 *
 * @type {typeof import('./unplayed.mjs').unplayed}
 */
export const avatars = [
	{
		promise: 'an amount in USD is sent in credits',
		file: 'nodes/Token/operations/create.ts',
		find: 'toCredits(number, unit) : number',
		becomes: 'number : number',
		noticedBy: 'test/nodes/golden.test.ts',
		title: 'golden body',
	},
	{
		promise: 'a time in milliseconds makes no API key that never expires',
		file: 'nodes/Token/operations/create.ts',
		find: ' && Number(value) <= LATEST_SECONDS',
		becomes: '',
		noticedBy: 'test/nodes/token.test.ts',
		title: 'Additional Fields with {"expired_time":1893456000000} are refused',
	},
	// Avatars.
	{
		promise: 'a person is verified only where the service names the group, too',
		file: 'core/avatars/records.ts',
		find: "verifyStatus?.toLowerCase() === 'verified' && groupId !== undefined",
		becomes: "verifyStatus?.toLowerCase() === 'verified'",
		noticedBy: 'test/nodes/avatar.test.ts',
		title: 'is not verified',
	},
	{
		promise: 'a no of the service before the person has passed is waited out',
		file: 'core/avatars/pollTargets.ts',
		find: 'if (!mayBeUnfinished(error)) return undefined;',
		becomes: 'if (error) return undefined;',
		noticedBy: 'test/nodes/avatar.test.ts',
		title: 'before the person has passed is waited out',
	},
	{
		promise: 'a verification whose link has expired is not reused by a retry',
		file: 'nodes/Avatar/operations/createVerification.ts',
		find: 'Date.now() - acceptedAtMs < VERIFICATION_LINK_MS',
		becomes: 'Date.now() >= acceptedAtMs',
		noticedBy: 'test/nodes/avatar.test.ts',
		title: 'a retry makes another verification where the link of the first has expired',
	},
	{
		promise: 'an asset is not uploaded without the source that an expression has lost',
		file: 'nodes/Avatar/operations/uploadAsset.ts',
		find: '	item.assertNotLost(sourceUrlField);\n',
		becomes: '',
		noticedBy: 'test/nodes/avatar.test.ts',
		title: 'a source that an expression has lost',
	},
	// Triggers.
	{
		promise: 'only an answer of the service confirms a verification, not the callback',
		file: 'nodes/AvatarVerificationTrigger/handleCallback.ts',
		find: 'confirmed: result !== undefined,',
		becomes: 'confirmed: true,',
		noticedBy: 'test/nodes/triggers.test.ts',
		title: 'of another workflow, or of a manual run, is emitted as unconfirmed',
	},
	{
		promise: 'a person cannot change the reference in the address',
		file: 'nodes/AvatarVerificationTrigger/handleCallback.ts',
		find: 'reference: known?.reference,',
		becomes: 'reference: callback.reference ?? known?.reference,',
		noticedBy: 'test/nodes/triggers.test.ts',
		title: 'the reference is the one that Create was given',
	},
	{
		promise: 'a callback that was told as not verified is told once',
		file: 'nodes/AvatarVerificationTrigger/handleCallback.ts',
		find: 'if (!toldCallbacks.isNew(key, told) || wasTold) return { page };',
		becomes: '',
		noticedBy: 'test/nodes/triggers.test.ts',
		title: 'a callback that was told as not verified is told once',
	},
	{
		promise: 'a callback starts the workflow once, also after a restart',
		file: 'nodes/AvatarVerificationTrigger/handleCallback.ts',
		find: 'if (known) rememberVerification(',
		becomes: 'if (known && !mark) rememberVerification(',
		noticedBy: 'test/nodes/triggers.test.ts',
		title: 'tells an outcome once, also after a restart',
	},
	{
		promise: 'many callbacks at once are one lookup',
		file: 'nodes/AvatarVerificationTrigger/handleCallback.ts',
		find: 'lookups.set(key, looking);',
		becomes: '',
		noticedBy: 'test/nodes/triggers.test.ts',
		title: 'a flood of 200 callbacks',
	},
	{
		promise: 'a test of Balance Trigger changes nothing',
		file: 'nodes/BalanceTrigger/checkBalance.ts',
		find: "if (context.getMode() === 'manual') return items;",
		becomes: '',
		noticedBy: 'test/nodes/triggers.test.ts',
		title: 'a manual run of Balance Trigger',
	},
];
