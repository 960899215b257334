/** The beginnings of files of many kinds, for result files that are not what a client expects. The rest is filler. */
const BEGINNINGS = {
	png: '\x89PNG\r\n\x1a\n\0\0\0\rIHDR',
	jpeg: '\xff\xd8\xff\xe0\0\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0',
	webp: 'RIFF\x24\x04\0\0WEBPVP8 ',
	gif: 'GIF89a\x01\0\x01\0',
	avif: '\0\0\0\x1cftypavif\0\0\0\0avifmif1miaf',
	heic: '\0\0\0\x18ftypheic\0\0\0\0mif1heic',
	mp4: '\0\0\0\x20ftypisom\0\0\x02\0isomiso2avc1mp41',
	mov: '\0\0\0\x14ftypqt  \0\0\x02\0qt  ',
	webm: '\x1aE\xdf\xa3\x9fB\x86\x81\x01B\xf7\x81\x01B\xf2\x81\x04B\xf3\x81\x08B\x82\x84webmB\x87\x81\x04',
	mp3: 'ID3\x04\0\0\0\0\0\x23TSSE',
	wav: 'RIFF\x24\x08\0\0WAVEfmt ',
	ogg: 'OggS\0\x02\0\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\x01\x13OpusHead',
	zip: 'PK\x03\x04\x14\0\0\0\x08\0',
	pdf: '%PDF-1.7\n%\xe2\xe3\xcf\xd3\n',
	m3u8: '#EXTM3U\n#EXT-X-VERSION:3\n#EXTINF:5.0,\nsegment-0.ts\n#EXT-X-ENDLIST\n',
	unknown: '\x01\x02\x03\x04 a file of a kind of its own',
};

export type Sample = keyof typeof BEGINNINGS;
export const SAMPLES = Object.keys(BEGINNINGS) as Sample[];

const FILLER_BYTES = 2_000;

export function sampleFile(sample: Sample): Buffer {
	const filler = sample === 'm3u8' ? '' : '\x07'.repeat(FILLER_BYTES);
	return Buffer.from(BEGINNINGS[sample] + filler, 'latin1');
}
