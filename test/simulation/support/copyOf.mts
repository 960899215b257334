/** As n8n's database gives it back. Much quicker than `structuredClone`, because it is plain data. */
export function copyOf<T>(data: T): T {
	if (typeof data !== 'object' || data === null) return data;
	if (Array.isArray(data)) return data.map(copyOf) as T;
	const copy: Partial<T> = {};
	for (const name in data) copy[name] = copyOf(data[name]);
	return copy as T;
}
