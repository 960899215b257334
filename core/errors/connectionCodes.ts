/** A connection that failed, in words. */
export interface ConnectionTrouble {
	/** A sentence about the host at the other end. */
	said: string;
	/** The way out, where it is another one than checking the address and the network. */
	advice?: string;
}

const TRUST =
	'If this host is to be trusted (a service of your own, or a proxy of your company), save the certificate of its issuer as a PEM file on the n8n host, set the environment variable NODE_EXTRA_CA_CERTS to its path, and restart n8n.';
const RENEW = 'The operator of the host has to renew it. Check the clock of the n8n host, too.';

/** Node's codes of connections, the first that fits. Those of certificates are OpenSSL's. */
const TROUBLES: Array<[RegExp, ConnectionTrouble]> = [
	[/^ECONNREFUSED$/, { said: 'Nothing accepts connections at this address.' }],
	[/^ENOTFOUND$/, { said: 'The host name does not exist.' }],
	[/^EAI_AGAIN$/, { said: 'The host name could not be resolved.' }],
	[/^(ECONNABORTED|ETIMEDOUT)$/, { said: 'No answer came in time.' }],
	[/^ERR_BLOCKED_BY_N8N$/, { said: 'n8n does not allow requests to this address (N8N_SSRF_PROTECTION_ENABLED).' }],
	[/^Z_DATA_ERROR$/, { said: 'The answer is compressed in a different way than its header says.' }],
	[
		/^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN)$/,
		{ said: 'n8n does not trust the certificate of this host: it is self-signed, or its issuer is.', advice: TRUST },
	],
	[
		/^(UNABLE_TO_(GET_ISSUER|VERIFY|DEC)|CERT_(UNTRUSTED|REJECTED|SIGNATURE)|INVALID_CA$)/,
		{ said: 'n8n does not trust the certificate of this host: its issuer is not known.', advice: TRUST },
	],
	[/^(CERT_HAS_EXPIRED|CRL_HAS_EXPIRED)$/, { said: 'The certificate of this host has expired.', advice: RENEW }],
	[/^(CERT|CRL)_NOT_YET_VALID$/, { said: 'The certificate of this host is not valid yet.', advice: RENEW }],
	[
		/^(ERR_TLS_CERT_ALTNAME|HOSTNAME_MISMATCH)/,
		{
			said: 'The certificate of this host is for another host name.',
			advice:
				'Enter the host name for which the certificate was issued, or ask the operator of the host for a certificate with this name.',
		},
	],
	[
		/^(CERT_|ERROR_IN_CERT|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED)/,
		{ said: 'The certificate of this host is not valid.', advice: 'The operator of the host has to replace it.' },
	],
	[
		/^ERR_SSL_(UNSUPPORTED_PROTOCOL|NO_PROTOCOLS|\w*ALERT_PROTOCOL_VERSION|\w*HANDSHAKE_FAILURE|NO_SHARED_CIPHER)/,
		{
			said: 'n8n and this host have no version of TLS, or no cipher, in common.',
			advice: 'The operator of the host has to offer TLS 1.2 or later.',
		},
	],
	[
		/^(EPROTO|ERR_SSL_(WRONG_VERSION|HTTP_REQUEST|PACKET_LENGTH))/,
		{
			said: 'This port does not speak TLS, although the address begins with https.',
			advice: 'Check the port in the address.',
		},
	],
	[/^ERR_SSL_\w*UNRECOGNIZED_NAME/, { said: 'This host does not know the host name in the address.' }],
];

/** The words for a code of a connection; the code itself, where it is not known, and where the words are about more than one. */
export function wordsOfCode(code: string): ConnectionTrouble {
	const known = TROUBLES.find(([pattern]) => pattern.test(code))?.[1];
	if (known === undefined) return { said: `There was no answer (${code}).` };
	return known.advice === undefined ? known : { ...known, said: known.said.replace(/\.$/, ` (${code}).`) };
}
