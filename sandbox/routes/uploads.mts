import { fastifyMultipart } from '@fastify/multipart';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { UploadAnswer } from '../faults/directives.mts';
import { directivesOf } from '../faults/readDirectives.mts';
import { jsonAnswer } from '../http/answer.mts';
import { serve } from '../http/pipeline.mts';
import { invalidRequest, Refusal } from '../http/refusal.mts';
import type { Upload, World } from '../state/world.mts';

const MAX_BYTES = 20 * 1024 * 1024;

/** The first bytes of an image, by extension. */
const SIGNATURES: Record<string, { type: string; starts: (bytes: Buffer) => boolean }> = {
	png: {
		type: 'image/png',
		starts: (bytes) => bytes.subarray(0, 8).toString('hex') === '89504e470d0a1a0a',
	},
	jpg: { type: 'image/jpeg', starts: (bytes) => bytes.subarray(0, 3).toString('hex') === 'ffd8ff' },
	gif: { type: 'image/gif', starts: (bytes) => /^GIF8[79]a$/.test(bytes.toString('latin1', 0, 6)) },
	webp: {
		type: 'image/webp',
		starts: (bytes) => /^RIFF.{4}WEBP$/s.test(bytes.toString('latin1', 0, 12)),
	},
	bmp: { type: 'image/bmp', starts: (bytes) => bytes.toString('latin1', 0, 2) === 'BM' },
};

/** The upload that contract section 4.8 leaves open, as it was seen (field notes, Uploads): multipart, field `file`. */
export function addUploadRoutes(api: FastifyInstance, world: World): void {
	// Loaded when the server gets ready, before its first request.
	void api.register(fastifyMultipart, { limits: { fileSize: MAX_BYTES, files: 1 } });
	api.post(
		'/v1/uploads/images',
		serve(world, {
			point: 'upload',
			handle: async ({ request, caller, logged }) => {
				const { file, fields } = await readForm(request, world.settings.uploadField);
				logged.body = {
					fileName: file.name,
					declaredType: file.declaredType,
					bytes: file.bytes.length,
					...(Object.keys(fields).length > 0 ? { fields } : {}),
				};
				const [extension, known] = Object.entries(SIGNATURES).find(([, { starts }]) => starts(file.bytes)) ?? [];
				if (extension === undefined || !known) throw invalidRequest('file is not an image');
				const id = world.ids.id('up_');
				const upload: Upload = {
					id,
					path: `/uploads/${id}.${extension}`,
					fileName: file.name,
					contentType: known.type,
					bytes: file.bytes,
					userId: caller.user.id,
					at: world.now(),
				};
				world.uploads.set(upload.path, upload);
				const { uploadAnswer } = directivesOf({ sandbox: fields.sandbox });
				return jsonAnswer(answerOf(uploadAnswer, world.addresses.files, upload.path));
			},
		}),
	);
}

/** The contract only says that there is a URL in it (4.8). */
function answerOf(where: UploadAnswer, files: string, path: string): unknown {
	const url = files + path;
	const answers: Record<UploadAnswer, unknown> = {
		data_url: { data: { url } },
		url: { url },
		data_list: { data: [{ url }] },
		data: { data: url },
		data_image_url: { data: { image_url: url } },
		file_link: { file: { link: url } },
		relative: { data: { url: url.replace(/^https?:/, '') } },
		none: { data: {} },
	};
	return { success: true, ...(answers[where] as object) };
}

interface UploadedFile {
	name: string;
	declaredType: string;
	bytes: Buffer;
}

/** The file, and the fields that come before it. */
async function readForm(
	request: FastifyRequest,
	field: string,
): Promise<{ file: UploadedFile; fields: Record<string, string> }> {
	const fields: Record<string, string> = {};
	if (!request.isMultipart()) throw invalidRequest(`send the image as multipart/form-data in the field "${field}"`);
	for await (const part of request.parts()) {
		if (part.type !== 'file') {
			fields[part.fieldname] = String(part.value);
			continue;
		}
		if (part.fieldname !== field) throw invalidRequest(`the field must be named "${field}", not "${part.fieldname}"`);
		const bytes = await part.toBuffer().catch((reason: unknown) => {
			if (part.file.truncated) return undefined;
			throw reason;
		});
		// The parser cuts off what is beyond the limit, and does not always raise an error then.
		if (!bytes || part.file.truncated) throw new Refusal(413, 'file is larger than 20 MiB', 'file_too_large');
		return { file: { name: part.filename, declaredType: part.mimetype, bytes }, fields };
	}
	throw invalidRequest(`the field "${field}" is missing`);
}
