import type { Directives, ResultShape } from '../faults/directives.mts';

/**
 * The shapes in which completed records were seen to carry their results (field notes, Task status and results), and
 * others of real services, in which a client has to search. The contract says that the fields are "not shown" (section
 * 2.3).
 */
export function resultFields(
	shape: ResultShape,
	kind: 'image' | 'video',
	files: string[],
	missing: number,
	thumbnail: { place: Directives['thumbnail']; url: string },
): Record<string, unknown> {
	const format = kind === 'image' ? 'png' : 'mp4';
	const first = files[0];
	const made = files.slice(0, Math.max(0, files.length - missing));
	const error = { code: 'content_policy_violation', message: 'This picture was declined' };
	const urls = files.map((url, index) => (index < made.length ? { url } : { error }));
	const texts = files.map((url, index) => (index < made.length ? url : null));
	const fields: Record<ResultShape, Record<string, unknown>> = {
		result_data: { result: { type: kind, data: urls.map((entry) => ({ ...entry, format })) } },
		url: { url: first },
		video_url: { video_url: first },
		data: { data: urls },
		output: { output: texts },
		output_objects: { output: urls },
		outputs: { outputs: texts },
		outputs_objects: { outputs: urls },
		images: { images: texts },
		images_objects: { images: urls },
		metadata_url: { metadata: { url: first } },
		metadata_result_urls: { metadata: { result_urls: texts } },
		content_video_url: { content: { video_url: first } },
		results: { results: urls },
		image_url: { image_url: first },
		audio_url: { audio_url: first },
		result_video_url: { result: { video: { url: first } } },
		output_images: { output: { images: files } },
		metadata_images: { metadata: { images: files } },
		url_and_images: { url: first, images: files },
		two_places: { content: { video_url: first }, audio: { track: `${first}?track=1` } },
		poster_and_videos: { result: { images: [thumbnail.url], videos: texts } },
		b64_json: { result: { type: kind, data: files.map((b64_json) => ({ b64_json, format })) } },
		none: {},
	};
	return withThumbnail(fields[shape], thumbnail.place, thumbnail.url);
}

/** A picture of the result is not the result; it stands where a careless reader would take it for one. */
function withThumbnail(
	fields: Record<string, unknown>,
	place: Directives['thumbnail'],
	url: string,
): Record<string, unknown> {
	const thumbnail = { thumbnail: url };
	const inner = place === 'metadata' ? fields.metadata : fields.result;
	const object = typeof inner === 'object' && inner !== null ? inner : {};
	switch (place) {
		case 'none':
			return fields;
		case 'top':
			return { ...fields, ...thumbnail };
		case 'metadata':
			return { ...fields, metadata: { ...object, ...thumbnail } };
		case 'result':
			return { ...fields, result: { ...object, ...thumbnail } };
		case 'item':
			return {
				...fields,
				result: { ...object, data: itemsOf(object).map((item) => ({ ...item, ...thumbnail })) },
			};
	}
}

function itemsOf(result: object): object[] {
	return 'data' in result && Array.isArray(result.data)
		? result.data.filter((item): item is object => typeof item === 'object' && item !== null)
		: [];
}
