import type { Choices, Resource } from '../../run/operation';
import { createGroup } from './createGroup';
import { createVerification } from './createVerification';
import { getAsset } from './getAsset';
import { getVerification } from './getVerification';
import { getVerificationResult } from './getVerificationResult';
import { uploadAsset } from './uploadAsset';

/** The resources of the node and their operations, in the order of the dropdowns: a new node begins with the first of each. */
export const resources: Choices<Resource> = [
	{ option: { name: 'Asset', value: 'asset' }, operations: [uploadAsset, getAsset] },
	{ option: { name: 'Group', value: 'group' }, operations: [createGroup] },
	{
		option: { name: 'Verification', value: 'verification' },
		operations: [createVerification, getVerification, getVerificationResult],
	},
];
