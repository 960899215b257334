import type { Directives } from '../faults/directives.mts';
import { jsonAnswer, type Answer } from '../http/answer.mts';
import type { Body } from '../rules/fields.mts';

/** Flat or in `data`: both were seen (field notes, Avatars); each operation has its usual form and a directive can turn it. */
export function avatarAnswer(record: Body, directives: Directives, usuallyWrapped: boolean): Answer {
	return jsonAnswer((directives.wrapped ?? usuallyWrapped) ? { success: true, data: record } : record);
}
