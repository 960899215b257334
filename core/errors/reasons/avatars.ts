import { VERIFICATION_LINK_SECONDS } from '../../limits';
import type { CatalogueEntry } from '../catalogueEntry';
import { continueAsset } from '../recovery';

interface Thing {
	id: string;
}
interface OfKind {
	avatarKind: string;
}

const GROUP: Record<string, string> = {
	real: 'For real avatars, use the group_id of a verification that a person has passed for this account. Groups from Group → Create are for private avatars.',
	private:
		'For private avatars, use the group_id that Group → Create returned. Groups of verified people are for real avatars.',
};
const noGroup = ({ avatarKind }: OfKind) =>
	`The service answered "not found": this account may have no ${avatarKind} avatar group with this ID`;
const groupsOf = ({ avatarKind }: OfKind) => GROUP[avatarKind] ?? '';

/** There is no ID in the form, so it is not the ID that is wrong. */
const ACCEPTED = 'The service has accepted it, but does not find it now.';
const GET_VERIFICATION = 'Try again with Verification → Get and this ID, or create a new verification.';

/** Verifications, groups and assets. */
export const AVATARS = {
	verificationUnknown: {
		kind: 'notFound',
		code: 'not_found',
		message: ({ id }: Thing) => `The service does not know the verification ${id}`,
		advice: (_: Thing, { operation }) =>
			operation === 'create'
				? `${ACCEPTED} ${GET_VERIFICATION}`
				: 'Check the ID, and that the credential belongs to the account that created it.',
	},
	verificationResultNotGiven: {
		kind: 'rejected',
		message: ({ id, httpStatus }: Thing & { httpStatus: number }) =>
			`The service answered ${httpStatus}${httpStatus < 300 ? ' and success: false' : ''} when asked for the result of verification ${id}`,
		advice:
			'This may mean that the person has not passed yet: check again later, or turn on Wait Until Verified. It may also mean that the link has expired, that the verification belongs to another account, or that the task ID and the vendor token are not those of the same verification.',
		permanent: true,
		serviceFirst: true,
	},
	noVerificationLink: {
		kind: 'unexpectedAnswer',
		code: 'unexpected_answer',
		message: ({ id }: Thing) => `The service gave no link for the verification ${id}`,
		advice: ({ status }: { status?: string }) =>
			`${status === undefined ? '' : `The status of its session is "${status}". `}${GET_VERIFICATION}`,
	},
	notVerified: {
		kind: 'taskFailed',
		message: ({ id }: Thing) => `The person has not passed the verification ${id}`,
		advice: ({ status }: { status: string }) =>
			`The verify_status is "${status}". Create a new verification, and send its link to the person.`,
		serviceFirst: true,
	},
	notVerifiedInTime: {
		kind: 'taskFailed',
		code: 'not_verified',
		message: ({ id }: Thing) => `The person has not passed the verification ${id} in time`,
		advice: `The link is valid for ${VERIFICATION_LINK_SECONDS} seconds. Create a new verification when the person is ready. If the person has passed, check that the task ID and the vendor token belong to the same verification.`,
		serviceFirst: true,
	},
	/** A wrong Base URL gets the same answer. */
	groupUnknown: {
		kind: 'notFound',
		code: 'not_found',
		message: noGroup,
		advice: (about: OfKind) => `${groupsOf(about)} If the group is right, check the Base URL in the credential.`.trim(),
	},
	groupNotAllowed: {
		kind: 'permission',
		code: 'key_not_allowed',
		message: 'The service does not allow this upload into the group',
		advice: (about: OfKind) => `The key may be limited, or the group belongs to another account. ${groupsOf(about)}`,
		serviceFirst: true,
	},
	assetUnknown: {
		kind: 'notFound',
		code: 'not_found',
		message: ({ id, avatarKind }: Thing & OfKind) => `This account has no ${avatarKind} avatar asset ${id}`,
		advice: (_: Thing, situation) =>
			situation.operation === 'upload'
				? `${ACCEPTED} ${continueAsset(situation)}`
				: 'Check the asset ID, the avatar kind, and that the credential belongs to the account that uploaded it.',
	},
	assetFailed: {
		kind: 'taskFailed',
		message: ({ id }: Thing) => `The service could not process the asset ${id}`,
		advice: ({ status }: { status: string }) =>
			`The status of the asset is "${status}", and it cannot be used. Check the file, then upload it again.`,
		serviceFirst: true,
	},
} satisfies Record<string, CatalogueEntry>;
