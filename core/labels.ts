/** The data table of n8n that holds the journal. Users see it, and open it by this name. */
export const TABLE_NAME = 'Gateway Purchases';

/** The value of the model dropdown that opens Other Model (by ID). */
export const CUSTOM_MODEL = 'custom';
export const CUSTOM_MODEL_LABEL = 'Other Model (by ID)';

export const ROLES = ['first_frame', 'last_frame'] as const;

/** The labels of the roles in the form. */
export const ROLE_LABELS: Record<string, string> = {
	first_frame: 'First Frame',
	last_frame: 'Last Frame',
} satisfies Record<(typeof ROLES)[number], string>;

export const IMAGE_URLS_PATH = 'image_urls';
export const IMAGE_ROLES_PATH = 'image_with_roles';
