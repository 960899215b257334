/** As n8n's database gives it back. Much quicker than `structuredClone`, because it is plain data. */
export function copyOf<T>(data: T): T {
	if (typeof data !== 'object' || data === null) return data;
	if (Array.isArray(data)) return data.map(copyOf) as T;
	return Object.fromEntries(Object.entries(data).map(([name, value]) => [name, copyOf(value)])) as T;
}
