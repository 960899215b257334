import type { Directives } from '../faults/directives.mts';

type Phase = 'queued' | 'in_progress' | 'completed' | 'failed' | 'processing' | 'active';

/** The word that a record shows for a state: the contract's own, unless a directive chose another. */
export function statusWord(phase: Phase, { words, letterCase }: Directives): string {
	const chosen: Record<Phase, string | undefined> = {
		queued: words.queued,
		in_progress: words.running,
		completed: words.done,
		failed: words.failed,
		// An asset has no queue.
		processing: words.running,
		active: words.done,
	};
	const word = chosen[phase] ?? phase;
	if (letterCase === 'upper') return word.toUpperCase();
	return letterCase === 'title' ? word.charAt(0).toUpperCase() + word.slice(1) : word;
}
