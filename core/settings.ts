import type { FileRules } from './addresses';

/**
 * The addresses of the service. The paths of the task status, and the path and field of the image upload, are not shown
 * in the contract (4.8): the defaults are what gateways of this kind use, and the credential can override each.
 */
export interface GatewaySettings extends FileRules {
	/** Path templates with `{task_id}`, relative to the base URL. */
	imageStatusPath: string;
	videoStatusPath: string;
	imageUploadPath: string;
	/** The name of the multipart field that holds the image. */
	imageUploadField: string;
	/** Further fields of the form that uploads an image. */
	imageUploadFields?: Record<string, string>;
}

export const DEFAULT_UPLOAD_FIELD = 'file';

export const DEFAULT_PATHS: Omit<GatewaySettings, keyof FileRules | 'imageUploadField' | 'imageUploadFields'> = {
	imageStatusPath: '/v1/images/generations/{task_id}',
	videoStatusPath: '/v1/videos/generations/{task_id}',
	imageUploadPath: '/v1/uploads/images',
};

/** The key as the service wants it: a pasted `Bearer ` prefix and spaces around it are removed. */
export function cleanApiKey(value: unknown): string {
	return typeof value === 'string' ? value.trim().replace(/^bearer\s+/i, '') : '';
}
