import type { FastifyInstance } from 'fastify';
import type { Answer } from '../http/answer.mts';
import { serve, type Call, type Subject } from '../http/pipeline.mts';
import { Refusal } from '../http/refusal.mts';
import { FieldReader, type Body } from '../rules/fields.mts';
import { checkWebUrl } from '../rules/links.mts';
import type { Asset, AssetFile, AvatarKind } from '../state/avatars.mts';
import { statusWord } from '../state/statusWord.mts';
import type { World } from '../state/world.mts';
import { avatarAnswer } from './avatarAnswer.mts';
import { addVerificationRoutes } from './verifications.mts';

const PREFIX = '/v1/videos/alpha-video-2-0';

/** Contract sections 4.6 and 4.7. */
export function addAvatarRoutes(api: FastifyInstance, world: World): void {
	addVerificationRoutes(api, world, `${PREFIX}/real-avatar`);
	api.post(
		`${PREFIX}/private-avatar/groups`,
		serve(world, {
			point: 'avatar',
			handle: ({ body, caller, directives }) => {
				const fields = new FieldReader(body);
				const name = fields.string('name');
				fields.string('description');
				const group = world.avatars.createGroup('private', caller.user.id, name);
				return avatarAnswer({ group_id: group.id }, directives, true);
			},
		}),
	);
	addAssetRoutes(api, world, 'real', `${PREFIX}/real-avatar/assets`);
	addAssetRoutes(api, world, 'private', `${PREFIX}/private-avatar/assets`);
}

function addAssetRoutes(api: FastifyInstance, world: World, kind: AvatarKind, path: string): void {
	api.post(path, serve(world, { point: 'avatar', handle: (call) => createAsset(world, kind, call) }));
	api.get(
		`${path}/:id`,
		serve(world, {
			point: 'avatar',
			subject: ({ id = '' }): Subject | undefined => {
				const directives = world.avatars.assets.get(id)?.directives;
				return directives && { id, directives, answers: directives.poll };
			},
			handle: ({ params: { id = '' }, caller }) => {
				const asset = world.avatars.assets.get(id);
				const hidden = asset !== undefined && world.now() - asset.createdAt < asset.directives.hiddenMs;
				if (!asset || hidden || asset.kind !== kind || asset.userId !== caller.user.id) {
					throw new Refusal(404, `Asset ${id} not found`, 'asset_not_found');
				}
				return avatarAnswer(assetRecord(asset), asset.directives, true);
			},
		}),
	);
}

const TYPES = ['image', 'video', 'audio'];

/**
 * The group must be the caller's own and of this kind. The rest of the body is shown for private avatars only (contract
 * 4.7, step 2): there only a public URL is taken.
 */
function createAsset(world: World, kind: AvatarKind, { body, caller, directives }: Call): Answer {
	const file = kind === 'private' ? privateFile(world, body, caller.user.id) : realFile(body);
	const group = world.avatars.groupNamedIn(body, kind, caller.user.id);
	const asset = world.avatars.createAsset(group, file, directives);
	return avatarAnswer({ asset_id: asset.id }, directives, true);
}

function privateFile(world: World, body: Body, userId: number): AssetFile {
	const fields = new FieldReader(body);
	const type = fields.requiredString('asset_type', { oneOf: TYPES });
	const sourceUrl = fields.requiredString('source_url');
	checkWebUrl(sourceUrl, 'source_url', world.linkCheck(userId));
	return { type, sourceUrl };
}

/** The recognizable parts of the file. */
function realFile({ asset_type: type, source_url: sourceUrl }: Body): AssetFile {
	return {
		...(typeof type === 'string' && TYPES.includes(type) ? { type } : {}),
		...(typeof sourceUrl === 'string' ? { sourceUrl } : {}),
	};
}

function assetRecord(asset: Asset): Body {
	const { directives } = asset;
	const status = asset.status();
	const code = directives.fail === '' ? 'asset_rejected' : directives.fail;
	return {
		asset_id: asset.id,
		group_id: asset.groupId,
		asset_type: asset.file.type,
		source_url: asset.file.sourceUrl,
		status: statusWord(status, directives),
		...(status === 'failed'
			? { error: { code, message: directives.failMessage ?? `The asset failed with ${code}` } }
			: {}),
	};
}
