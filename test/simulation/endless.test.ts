import { Time } from './support/time.mts';

test('a case whose code waits for nothing, again and again, ends with an error', async () => {
	const time = new Time(() => 0);
	const problems: string[] = [];
	const askAgain = async () => {
		for (;;) {
			performance.now();
			await undefined;
		}
	};
	time.after(2_000, () => void askAgain().catch(({ message }: Error) => problems.push(message)));
	await expect(time.run(Infinity, 10)).rejects.toThrow('No end of what follows from a step, 2 s after the beginning');
	expect(problems).toEqual(['The clock was read again and again, and nothing was waited for']);
});
