/** Mutants that nobody could notice, in all else. */

/** @type {Record<string, import('./equivalent.mjs').Equivalent[]>} by file */
export const inOthers = {
	'core/records/locateResult.ts': [
		{
			line: "while (end > 0 && '.,;:!?)]}'.includes(url.charAt(end - 1))) end--;",
			becomes: 'true',
			why: 'a URL begins with letters',
		},
		{
			line: "while (end > 0 && '.,;:!?)]}'.includes(url.charAt(end - 1))) end--;",
			becomes: 'end >= 0',
			why: 'the same',
		},
	],
	'nodes/run/runOperation.ts': [
		{
			line: 'const orders = worked.flatMap(({ order }) => order ?? []);',
			becomes: '["Stryker was here"]',
			why: 'they are only asked for their models, and a text has none',
		},
		{
			line: "operation: String(operation?.option.value ?? ''),",
			becomes: '"Stryker was here!"',
			why: 'no words about an operation that is not there depend on it',
		},
	],
	'core/records/resultSearch.ts': [
		{
			line: "name = '',",
			becomes: '"Stryker was here!"',
			why: 'the record itself has no name; one that says nothing is the same',
		},
	],
	'nodes/generation/generate.ts': [
		{
			line: 'if (images.length === 0) return;',
			becomes: 'false',
			why: 'without images there is nothing to do; it only saves two hashes',
		},
		{
			line: 'const staysForBackground = () => false;',
			becomes: '() => undefined',
			why: 'both are no',
		},
	],
	'nodes/run/output.ts': [
		{
			line: "...('error' in input && isPlainObject(input.details) ? ['message'] : []),",
			becomes: '["Stryker was here"]',
			why: 'no field is called so',
		},
		{
			line: "...('error' in input ? OF_AN_ERROR : []),",
			becomes: '["Stryker was here"]',
			why: 'no field is called so',
		},
		{
			line: "...(isOfSession(input) || 'verified' in input ? ['confirmed', ...OF_A_WAIT] : []),",
			becomes: '["Stryker was here"]',
			why: 'no field is called so',
		},
		{
			line: "...('task_id' in input ? [...OF_A_TASK, ...Object.keys(pricesIn(input)).filter(isOfATask)] : []),",
			becomes: '["Stryker was here"]',
			why: 'no field is called so',
		},
		{
			line: "...('asset_id' in input ? ['asset_id', 'reference'] : []),",
			becomes: '["Stryker was here"]',
			why: 'no field is called so',
		},
		{
			line: "...('asset_id' in input || 'task_id' in input ? OF_A_WAIT : []),",
			becomes: '["Stryker was here"]',
			why: 'no field is called so',
		},
		{
			line: "...(isOfSession(input) ? ['task_id', 'expires_at'] : []),",
			becomes: '["Stryker was here"]',
			why: 'no field is called so',
		},
		{
			line: "...('api_key' in input ? ['id', 'expires_at'] : []),",
			becomes: '["Stryker was here"]',
			why: 'no field is called so',
		},
		{
			line: '...(describes === undefined ? [] : FIELDS_OF[describes](input)),',
			becomes: '["Stryker was here"]',
			why: 'no field is called so',
		},
	],
	'nodes/run/run.ts': [
		{
			line: "return executions[keyInBackground(run, order)] ?? executions[order.task?.taskId ?? ''];",
			becomes: '"Stryker was here!"',
			why: 'no task is called so',
		},
	],
	'core/errors/describe.ts': [
		{
			line: "return typeof advice === 'string' ? advice : advice(reason?.data as never, situation);",
			becomes: 'reason.data',
			why: 'advice is that of a reason; only the compiler asks',
		},
	],
	'core/http/serviceErrors.ts': [
		{
			line: 'if (status >= 300 && status < 400) {',
			becomes: 'status <= 400',
			why: '400 has a meaning of its own, above',
		},
		{
			line: "if (status < 300 && status >= 200 && !isJson) return gatewayError('notTheService', {}, details);",
			becomes: 'status <= 300',
			why: '300 is a redirect, above',
		},
		{
			line: "const own = kind === 'notFound' || kind === 'permission' || kind === 'rejected' ? meanings[kind] : undefined;",
			becomes: 'true',
			why: 'there are no meanings but of these kinds; only the compiler asks',
		},
	],
	'core/avatars/client.ts': [
		{
			line: 'if (httpStatus === undefined || !mayBeUnfinished(error)) throw error;',
			becomes: 'false',
			why: 'without an answer nobody may still be unfinished; only the compiler asks',
		},
	],
	'core/errors/index.ts': [
		{
			line: 'return isTransientStatus(status) || (status < 300 && unclear);',
			becomes: 'status <= 300',
			why: 'after 300, a read is tried again anyway',
		},
	],
	'core/longIntegers.ts': [
		{ line: 'if (!LONG.test(json)) return json;', becomes: 'false', why: 'it only saves time' },
		{ line: 'const LONG = /\\d{16}/;', becomes: '/\\d/', why: 'the same' },
	],
	'core/text.ts': [
		{
			line: 'if (seconds < 10) return `${seconds} s`;',
			becomes: 'seconds <= 10',
			why: '10 is a multiple of 5',
		},
	],
	'nodes/AvatarVerificationTrigger/handleCallback.ts': [
		{
			line: "return details.reason?.name === 'verificationResultNotGiven';",
			becomes: 'details.reason.name',
			why: 'each error of a request has a reason; only the compiler asks',
		},
	],
	'core/models/checkBody.ts': [
		{
			line: "const sourceOf = (path: string): ValueSource => (getPath(additionalFields, path) === undefined ? 'form' : 'json');",
			becomes: '""',
			why: 'the form is whatever is not JSON',
		},
	],
	'core/models/rules.ts': [
		{ line: 'const shortened = rules', becomes: 'rules', why: 'no other rule has a count; only the compiler asks' },
		{ line: ".filter((rule) => rule.kind === 'usesFirst')", becomes: 'true', why: 'the same' },
	],
	'core/models/toBody.ts': [
		{
			line: "return scale !== undefined && typeof value === 'number' && value > 0 ? Number((value * scale).toFixed(6)) : value;",
			becomes: 'value >= 0',
			why: '0 is 0 in every unit',
		},
	],
	'core/avatars/callback.ts': [
		{
			line: "const [beforeHash = '', ...hash] = url.split('#');",
			becomes: '"Stryker was here!"',
			why: 'there is always a first part; only the compiler asks',
		},
		{ line: "const [beforeHash = ''] = url.split('#');", becomes: '"Stryker was here!"', why: 'the same' },
	],
	'core/avatars/callbackLog.ts': [
		{
			line: 'const recent = (this.passed.get(kind) ?? []).filter((atMs) => Math.abs(nowMs - atMs) < 60_000);',
			becomes: '["Stryker was here"]',
			why: 'what is no time is not within a minute',
		},
	],
	'nodes/run/progress.ts': [
		{
			line: 'orders: readonly Order[] = [];',
			becomes: '["Stryker was here"]',
			why: 'one in no state is as silent as none',
		},
		{
			line: 'await this.readers.stream?.sendChunk(type, 0, text);',
			becomes: 'this.readers.stream.sendChunk',
			why: 'what throws there is caught',
		},
		{
			line: 'const seen = running.flatMap(({ task }) => task?.progress ?? []).sort((one, other) => one - other);',
			becomes: 'task.progress',
			why: 'an accepted order has a task; only the compiler asks',
		},
		{
			line: '.reduce<Order | undefined>((least, order) => (progressOf(order) < progressOf(least) ? order : least), undefined);',
			becomes: 'progressOf(order) <= progressOf(least)',
			why: 'of two that have come equally far, either will do',
		},
	],
	'nodes/run/taskLog.ts': [
		{
			line: "const id = task?.taskId ?? '';",
			becomes: 'task.taskId',
			why: 'an accepted order has a task; only the compiler asks',
		},
		{ line: "const id = task?.taskId ?? '';", becomes: '"Stryker was here!"', why: 'the same' },
		{ line: 'this.customData?.set(key, packed);', becomes: 'this.customData.set', why: 'what throws there is caught' },
		{ line: 'if (this.customData?.get(key) === packed) return;', becomes: 'this.customData.get', why: 'the same' },
	],
	'core/addresses.ts': [
		{ line: "['0.0.0.0', 8],", becomes: '""', why: 'as a number, an empty text is 0, too' },
		{
			line: "return NOT_PUBLIC.some(isWithin) ? 'private' : 'other';",
			becomes: '""',
			why: 'what is neither loopback nor other is private',
		},
		{ line: "return first >> 13 === 1 && !isSpecial ? 'other' : 'private';", becomes: '""', why: 'the same' },
		{
			line: 'return [...head, ...Array<number>(8 - head.length - tail.length).fill(0), ...tail];',
			becomes: '8 + head.length',
			why: 'behind the first two groups, only addresses without a head are looked at',
		},
		{
			line: "const [head = [], tail = []] = address.split('::').map((half) =>",
			becomes: '["Stryker was here"]',
			why: 'a text that is split has a first part; only the compiler asks',
		},
	],
	'core/account/runCredits.ts': [
		{
			line: "return typeof used === 'number' && Number.isFinite(used) ? used : undefined;",
			becomes: 'true',
			why: 'only a number is finite; only the compiler asks',
		},
	],
	'core/json.ts': [{ line: '} catch {', becomes: '{}', why: 'what returns nothing returns undefined' }],
	'core/models/imageType.ts': [
		{
			line: "{ mimeType: 'image/webp', extension: 'webp', starts: /^52494646.{8}57454250/ }, // RIFF, size, WEBP",
			becomes: '/52494646.{8}57454250/',
			why: 'it is as long as all that is read',
		},
	],
	'core/processMemory.ts': [
		{
			line: 'export const learnedStorageLimit = { bytes: Infinity };',
			becomes: '{}',
			why: 'no file is larger than nothing, either',
		},
	],
	'core/http/types.ts': [
		{
			line: "export const TOO_LARGE = 'TOO_LARGE';",
			becomes: '""',
			why: 'it is compared with itself only, and never shown',
		},
	],
	'core/client.ts': [
		{
			line: "const isUnknownModel = ({ serviceCode }: GatewayErrorDetails) => /^model_not_found$/i.test(serviceCode ?? '');",
			becomes: '"Stryker was here!"',
			why: 'neither text is that code',
		},
	],
	'core/records/prices.ts': [
		{
			line: "const words = name.replace(/([a-z])([A-Z])/g, '$1_$2').split(/[^A-Za-z]+/);",
			becomes: '/[^A-Za-z]/',
			why: 'an empty word names no price',
		},
	],
	'core/records/refusals.ts': [
		{
			line: '(code !== undefined && refusal.code !== undefined && code.test(refusal.code) && status !== notWith) ||',
			becomes: 'true',
			why: 'no code fits the word undefined; only the compiler asks',
		},
		{
			line: 'return entryOf(MEANINGS.find(({ words }) => words !== undefined && words === said)?.reason)?.created;',
			becomes: 'true',
			why: 'the first row without words does not say what was created',
		},
	],
	'core/records/accountRecords.ts': [
		{
			line: 'if (!isPlainObject(answer) || !isPlainObject(raw) || !fields.success) return undefined;',
			becomes: 'false',
			why: 'the record is the answer or in it, and only an object has fields; only the compiler asks',
		},
		{
			line: 'if (!isPlainObject(answer) || !isPlainObject(raw) || !fields.success) return undefined;',
			becomes: '!isPlainObject(answer) && !isPlainObject(raw)',
			why: 'the same',
		},
	],
	'core/records/ids.ts': [
		{ line: "const id = parseJson(found?.[1] ?? '');", becomes: '"Stryker was here!"', why: 'neither text is JSON' },
	],
	'core/polling/survivalTable.ts': [
		{ line: 'if (bin.fromMs >= toMs) break;', becomes: 'false', why: 'only faster: later bins have no part' },
		{ line: 'if (bin.fromMs >= toMs) break;', becomes: 'bin.fromMs > toMs', why: 'the same' },
		{
			line: 'for (let fromMs = YOUNGEST_MS; fromMs < OLDEST_MS; fromMs *= GROWTH) bins.push({ fromMs, toMs: fromMs * GROWTH });',
			becomes: 'fromMs <= OLDEST_MS',
			why: 'no bin begins exactly there',
		},
		{
			line: 'const share = toMs <= startMs ? 0 : Math.log(toMs / startMs) / Math.log(Math.max(2, PRIOR_TO_MS / startMs));',
			becomes: 'toMs < startMs',
			why: 'the logarithm of 1 is 0',
		},
		{ line: 'this.version++;', becomes: 'this.version--', why: 'any other number says that something has changed' },
		{ line: 'this.version++;', becomes: 'this.version--', why: 'the same' },
		{ line: 'this.version++;', becomes: 'this.version--', why: 'the same' },
	],
	'core/polling/planner.ts': [
		{
			line: 'if (hasBegunAgain(each, last?.[1])) beginning = { from: last?.[0], to: index };',
			becomes: 'last[0]',
			why: 'what has begun again has a reading before; only the compiler asks',
		},
		{ line: 'if (bin.toMs <= startMs) continue;', becomes: 'false', why: 'both sides of the equation shrink alike' },
		{ line: 'if (bin.toMs <= startMs) continue;', becomes: 'bin.toMs < startMs', why: 'the same' },
		{
			line: 'for (const { fromMs, toMs, weight } of windows) if (fromMs < ageMs && ageMs < toMs) sum += weight;',
			becomes: 'fromMs <= ageMs',
			why: 'the middle of a piece is no edge',
		},
		{
			line: 'for (const { fromMs, toMs, weight } of windows) if (fromMs < ageMs && ageMs < toMs) sum += weight;',
			becomes: 'ageMs <= toMs',
			why: 'the same',
		},
		{
			line: 'if (lostAtEndMs >= priceMs * runningAtEnd && lostAtEndMs > 0) {',
			becomes: 'lostAtEndMs > priceMs * runningAtEnd',
			why: 'the next piece begins at that moment',
		},
	],
	'core/polling/timeLeft.ts': [
		{
			line: 'if (mass > 0 && mass >= before) return fromMs + (before / mass) * (toMs - fromMs) - nowMs;',
			becomes: 'mass > before',
			why: 'the end of a piece is the beginning of the next one',
		},
	],
	'core/polling/pollSchedule.ts': [
		{
			line: 'if (this.planned?.backlogMs === backlogMs && this.planned.tableVersion === version) return this.planned.atMs;',
			becomes: 'false',
			why: 'only slower: the plan is made anew',
		},
		{ line: 'this.planned = { backlogMs, tableVersion: version, atMs };', becomes: '{}', why: 'the same' },
		{
			line: 'return ageAtStartMs > SHORTEST_GAP_MS && ageAtStartMs > nextPollAtMs(NOT_POLLED, table, 1, 0);',
			becomes: 'true',
			why: 'only faster: no first check comes before that',
		},
		{
			line: 'return ageAtStartMs > SHORTEST_GAP_MS && ageAtStartMs > nextPollAtMs(NOT_POLLED, table, 1, 0);',
			becomes: 'ageAtStartMs >= SHORTEST_GAP_MS',
			why: 'the same',
		},
	],
	'core/polling/progress.ts': [
		{
			line: "{ curve: 'slowing', k: [1, 1], step: 1, weight: 0.5 },",
			becomes: '""',
			why: 'what is neither growing nor waiting is slowing',
		},
		{ line: "{ curve: 'slowing', k: [1, 1], step: 10, weight: 0.15 },", becomes: '""', why: 'the same' },
		{ line: "{ curve: 'slowing', k: [1, 1], step: 25, weight: 0.15 },", becomes: '""', why: 'the same' },
		{ line: "{ curve: 'slowing', k: [1, 1], step: 1, rounded: true, weight: 0.05 },", becomes: '""', why: 'the same' },
		{ line: "{ curve: 'slowing', k: [1, 1], step: 10, rounded: true, weight: 0.02 },", becomes: '""', why: 'the same' },
		{ line: "{ curve: 'slowing', k: [1, 1.5], step: 1, weight: 0.005 },", becomes: '""', why: 'the same' },
		{ line: "{ curve: 'slowing', k: [1.5, 2.5], step: 1, weight: 0.01 },", becomes: '""', why: 'the same' },
		{ line: "{ curve: 'slowing', k: [2.5, 4], step: 1, weight: 0.01 },", becomes: '""', why: 'the same' },
		{
			line: "{ curve: 'waiting', k: [1, 1], step: 1, weight: 0.005 },",
			becomes: '[]',
			why: 'at constant speed, nobody asks for k',
		},
	],
	'nodes/generation/binaryImage.ts': [
		{
			line: 'for (let from = 0; from < (chunk as Uint8Array).length; from += PIECE_BYTES) {',
			becomes: 'from <= (chunk satisfies Uint8Array).length',
			why: 'nothing is added at the end',
		},
		{ line: '} catch {', becomes: '{}', why: 'without a return, it is undefined, too' },
	],
	'nodes/generation/planRequest.ts': [
		{
			line: 'switch (reason?.name) {',
			becomes: 'reason.name',
			why: 'each mistake of a form has a reason; only the compiler asks',
		},
	],
	'nodes/run/tracing.ts': [
		{
			line: 'context.setMetadata?.({ tracing });',
			becomes: 'context.setMetadata({\n  tracing\n})',
			why: 'to call what is not there is an error that is caught',
		},
	],
};
