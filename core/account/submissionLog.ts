import { gatewayError, type GatewayError } from '../errors';

/** A number of submissions in a row that get a page in between, and nothing else, which is no accident. */
const PAGES_IN_A_ROW = 3;

/**
 * The latest answers to the submissions of an account. A page in the place of the service concerns its item first: it says
 * nothing about the key. Where all others get one, too, the next ones would only feed the firewall that wrote it.
 */
export class SubmissionLog {
	private pages = 0;

	/** Notes an answer that is a refusal. Returns the error to go by: of the third page in a row one that ends all submissions. */
	refused(error: GatewayError): GatewayError {
		const { reason, httpStatus } = error.details;
		const isPage = reason?.name === 'refusedInBetween' && httpStatus !== 404;
		this.pages = isPage ? this.pages + 1 : 0;
		return this.pages < PAGES_IN_A_ROW ? error : gatewayError('accessBlocked', {}, error.details);
	}

	/** Notes an answer of the service. */
	accepted(): void {
		this.pages = 0;
	}
}
