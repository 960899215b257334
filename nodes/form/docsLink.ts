const DOCS = 'https://github.com/generation-gateway-nodes/n8n-nodes-generation-gateway/blob/HEAD/docs';

/** A link to a page of the documentation, for a notice: it says in two lines what counts, the page says the rest. */
export const docsLink = (page: string) => `<a href="${DOCS}/${page}" target="_blank">More</a>`;
