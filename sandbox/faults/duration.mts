const UNIT_MS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Milliseconds for `500ms`, `2s`, `1.5m`, `24h`, plain seconds such as `2`, or `never`; undefined for anything else. */
export function parseDurationMs(text: string): number | undefined {
	if (text === 'never') return Infinity;
	const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text);
	if (!match) return undefined;
	return Number(match[1]) * (UNIT_MS[match[2] ?? 's'] ?? 1_000);
}
