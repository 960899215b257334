import { createHash } from 'crypto';
import type { IBinaryData } from 'n8n-workflow';
import { PendingUpload } from '../../core/models/images';
import { formError } from '../errors/formErrors';
import type { Item } from '../run/item';

/** The image in a binary field of the item, to be uploaded. Throws a `badInput` error that names the form's field. */
export function readBinaryImage({ context, index, input }: Item, name: string, label: string): { data: IBinaryData; upload: PendingUpload } {
	const { binary } = input;
	const data = binary?.[name];
	if (data === undefined) throw formError('noBinaryField', { label, name, there: Object.keys(binary ?? {}) });
	const { mimeType, fileName, fileExtension } = data;
	if (!mimeType?.startsWith('image/')) throw formError('noImage', { label, name, mimeType });
	const upload = new PendingUpload(identify(data), async () => ({
		bytes: await context.helpers.getBinaryDataBuffer(index, name),
		mimeType,
		fileName: fileName ?? `image.${fileExtension ?? 'png'}`,
	}));
	return { data, upload };
}

/** Tells one file from another without reading it: n8n's ID where it is stored, else a hash of its content. */
function identify({ id, data }: IBinaryData): string {
	return id ?? createHash('sha256').update(data).digest('base64');
}
