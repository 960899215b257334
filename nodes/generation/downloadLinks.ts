import type { IBinaryKeyData, IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { HINTS } from '../run/hints';

/**
 * The lifetime of a link, in the words of n8n's helper. n8n may delete the file sooner, together with the execution.
 */
const LINK_LIFETIME = '30 days';

/**
 * Links to n8n's own copies of the files, for the output: `download_url`, `download_urls`. They open without login.
 * Where n8n makes none, as for files that it keeps in memory, a hint says so: the task has been paid for.
 */
export function linksTo({ helpers }: IExecuteFunctions, files: IBinaryKeyData, hints: Set<string>): IDataObject {
	try {
		const links = Object.values(files).map((file) => helpers.createBinarySignedUrl(file, LINK_LIFETIME));
		return { download_url: links[0], download_urls: links };
	} catch {
		hints.add(HINTS.noDownloadLink());
		return {};
	}
}
