import { printable } from '../../core/text';

/**
 * A text that n8n shows to people: messages, descriptions, hints. n8n takes a description for HTML in some places and for
 * text in others, so what the service or a user has written must read the same in both, and no link of it may work.
 */
export function plain(text: string): string {
	return printable(text).replaceAll('<', '‹').replaceAll('>', '›');
}
