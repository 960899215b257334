import type { Choices, Resource } from '../../run/operation';
import { createGroup } from './createGroup';
import { createVerification } from './createVerification';
import { getAsset } from './getAsset';
import { getVerification } from './getVerification';
import { getVerificationResult } from './getVerificationResult';
import { uploadAsset } from './uploadAsset';
import { waitForAsset } from './waitForAsset';

/** The resources of the node and their operations, in the order of the dropdowns. */
export const resources: Choices<Resource> = [
	{ option: { name: 'Asset', value: 'asset' }, operations: [getAsset, uploadAsset, waitForAsset] },
	{ option: { name: 'Group', value: 'group' }, operations: [createGroup] },
	{
		option: { name: 'Verification', value: 'verification' },
		operations: [createVerification, getVerification, getVerificationResult],
	},
];
