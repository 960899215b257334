/** The types of files by extension. Of several extensions of a type, names get the first. */
const EXTENSIONS: Record<string, string> = {
	...{ png: 'image/png', jpg: 'image/jpeg', jpeg: 'image/jpeg', webp: 'image/webp', gif: 'image/gif' },
	...{ avif: 'image/avif', heic: 'image/heic', heif: 'image/heif', jxl: 'image/jxl', bmp: 'image/bmp' },
	...{ tiff: 'image/tiff', tif: 'image/tiff', svg: 'image/svg+xml', ico: 'image/vnd.microsoft.icon' },
	...{ mp4: 'video/mp4', m4v: 'video/mp4', webm: 'video/webm', mov: 'video/quicktime', mkv: 'video/x-matroska' },
	...{ avi: 'video/x-msvideo', mpg: 'video/mpeg', ogv: 'video/ogg', ts: 'video/mp2t', flv: 'video/x-flv' },
	...{ mp3: 'audio/mpeg', wav: 'audio/wav', ogg: 'audio/ogg', m4a: 'audio/mp4', aac: 'audio/aac', flac: 'audio/flac' },
	...{ zip: 'application/zip', pdf: 'application/pdf', gz: 'application/gzip', '7z': 'application/x-7z-compressed' },
	...{ rar: 'application/vnd.rar', m3u8: 'application/vnd.apple.mpegurl', mpd: 'application/dash+xml' },
	bin: 'application/octet-stream',
};

/** The first bytes of each type, as a text in which each byte is a character. The first one that fits counts. */
const SIGNATURES = [
	['image/png', String.raw`^\x89PNG\r\n\x1a\n`],
	['image/jpeg', String.raw`^\xff\xd8\xff`],
	['image/webp', String.raw`^RIFF.{4}WEBP`],
	['image/gif', String.raw`^GIF8[79]a`],
	['image/bmp', String.raw`^BM.{4}\0{4}`],
	['image/tiff', String.raw`^(II\*\0|MM\0\*)`],
	['image/vnd.microsoft.icon', String.raw`^\0\0\x01\0[^\0]\0`],
	['image/jxl', String.raw`^(\xff\x0a|\0\0\0\x0cJXL )`],
	['image/svg+xml', String.raw`^(\xef\xbb\xbf)?\s*<(svg[\s>]|(\?xml|!--|!DOCTYPE svg).*<svg[\s>])`],
	// Files of the family of MP4 begin with their brand; with some, the brands that they are compatible with decide.
	['image/avif', String.raw`^.{4}ftyp(avi[fs]|(mif1|msf1).{4}(.{4})*avi[fs])`],
	['image/heic', String.raw`^.{4}ftyp(hei[cxms]|hev[cxms]|mif1|msf1)`],
	['audio/mp4', String.raw`^.{4}ftypM4[AB]`],
	['video/quicktime', String.raw`^.{4}(ftypqt  |moov|mdat|wide|pnot|free|skip)`],
	['video/mp4', String.raw`^.{4}(ftyp|styp|sidx|moof)`],
	['video/webm', String.raw`^\x1aE\xdf\xa3.*webm`],
	['video/x-matroska', String.raw`^\x1aE\xdf\xa3`],
	['video/x-msvideo', String.raw`^RIFF.{4}AVI `],
	['video/mpeg', String.raw`^\0\0\x01[\xba\xb3]`],
	['video/mp2t', String.raw`^G.{187}G`],
	['video/x-flv', String.raw`^FLV\x01`],
	['video/ogg', String.raw`^OggS.*(theora|\x80theora)`],
	['audio/ogg', String.raw`^OggS`],
	['audio/wav', String.raw`^(RIFF|RF64).{4}WAVE`],
	['audio/flac', String.raw`^fLaC`],
	['audio/aac', String.raw`^\xff[\xf0\xf1\xf8\xf9]`],
	['audio/mpeg', String.raw`^(ID3|\xff[\xe2-\xe7\xf2-\xf7\xfa-\xfd\xff])`],
	['application/zip', String.raw`^PK(\x03\x04|\x05\x06)`],
	['application/pdf', String.raw`^%PDF-`],
	['application/gzip', String.raw`^\x1f\x8b`],
	['application/x-7z-compressed', String.raw`^7z\xbc\xaf\x27\x1c`],
	['application/vnd.rar', String.raw`^Rar!\x1a\x07`],
	['application/vnd.apple.mpegurl', String.raw`^(\xef\xbb\xbf)?#EXTM3U`],
	['application/dash+xml', String.raw`^(\xef\xbb\xbf)?\s*(<\?xml.*)?<MPD[\s>]`],
	['application/xml', String.raw`^(\xef\xbb\xbf)?\s*<(\?xml\s|!--)`],
	// No medium is without control characters for so long.
	['text/plain', String.raw`^[\t\n\f\r\x20-\xff]+$`],
].map(([mimeType = '', starts = '']) => ({ mimeType, starts: new RegExp(starts, 's') }));

/** The number of bytes that is enough for every type. */
export const SIGNATURE_BYTES = 192;

/** The type of a file by its first bytes, for hosts that send no type or a wrong one. Undefined: not known. */
export function typeByContent(bytes: Uint8Array): string | undefined {
	const start = [...bytes.subarray(0, SIGNATURE_BYTES)].map((byte) => String.fromCharCode(byte)).join('');
	return SIGNATURES.find(({ starts }) => starts.test(start))?.mimeType;
}

/** True for a type that the first bytes of a file tell. */
export function isToldByContent(mimeType: string): boolean {
	return SIGNATURES.some((signature) => signature.mimeType === mimeType);
}

/** The type of a file by its name, or by the path of its address. */
export function typeByName(name: string): string | undefined {
	const extension = /\.(\w+)$/.exec(name.slice(-LONGEST_EXTENSION))?.[1]?.toLowerCase() ?? '';
	return Object.hasOwn(EXTENSIONS, extension) ? EXTENSIONS[extension] : undefined;
}

const LONGEST_EXTENSION = 10;

/** The extension of a type; of an unknown one the end of its name, such as `x3f` of `image/x-x3f`, where that can be one. */
export function extensionOf(mimeType: string): string {
	const known = Object.keys(EXTENSIONS).find((extension) => EXTENSIONS[extension] === mimeType);
	const end = mimeType.replace(/.*\/(x-)?|\+.*/g, '');
	return known ?? (/^\w{1,10}$/.test(end) ? end : 'bin');
}

export function isMedia(mimeType: string): boolean {
	return /^(image|video|audio)\//.test(mimeType) && !isPlaylist(mimeType);
}

/** True for a list of the pieces of a video: it is no video. */
export function isPlaylist(mimeType: string): boolean {
	return /^(application|audio)\/(vnd\.apple\.|x-)?mpegurl$|^application\/dash\+xml$/.test(mimeType);
}
