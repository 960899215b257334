/** The type of an image by its first bytes, for hosts that send no type or a wrong one. */
export interface ImageType {
	mimeType: string;
	extension: string;
}

/** The first bytes of each type, two hexadecimal digits each. */
const SIGNATURES: Array<ImageType & { starts: RegExp }> = [
	{ mimeType: 'image/png', extension: 'png', starts: /^89504e470d0a1a0a/ },
	{ mimeType: 'image/jpeg', extension: 'jpg', starts: /^ffd8ff/ },
	{ mimeType: 'image/webp', extension: 'webp', starts: /^52494646.{8}57454250/ }, // RIFF, size, WEBP
	{ mimeType: 'image/gif', extension: 'gif', starts: /^474946383[79]61/ }, // GIF87a, GIF89a
];

/** The number of bytes that is enough for every type. */
export const SIGNATURE_BYTES = 12;

export function imageTypeOf(bytes: Uint8Array): ImageType | undefined {
	const start = [...bytes.subarray(0, SIGNATURE_BYTES)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
	const found = SIGNATURES.find(({ starts }) => starts.test(start));
	return found && { mimeType: found.mimeType, extension: found.extension };
}
