import type { Directives } from '../faults/directives.mts';
import { Refusal } from '../http/refusal.mts';
import { drawMs, type Duration } from '../options.mts';
import type { IdMaker } from './ids.mts';

/** Verifications, avatar groups and assets; contract sections 2.4, 3.2, 3.3, 4.6 and 4.7. */

export type AvatarKind = 'real' | 'private';
export type AssetStatus = 'processing' | 'active' | 'failed';

export interface Verification {
	id: string;
	userId: number;
	/** Secret part of the link's path; not the vendor token. */
	session: string;
	vendorToken: string;
	callbackUrl?: string;
	createdAt: number;
	expiresAt: number;
	/** Set once, by the person in the browser. */
	outcome?: 'pass' | 'fail';
	/** Only after `pass`. */
	groupId?: string;
	directives: Directives;
}

export interface Group {
	id: string;
	kind: AvatarKind;
	userId: number;
	name?: string;
}

/** The source of an asset, as far as it was named. */
export interface AssetFile {
	type?: string;
	sourceUrl?: string;
}

export interface Asset {
	id: string;
	kind: AvatarKind;
	userId: number;
	groupId: string;
	file: AssetFile;
	createdAt: number;
	readyAt: number;
	directives: Directives;
	/** Status at this moment. */
	status(): AssetStatus;
}

/** An asset as it can be saved. */
export type SavedAsset = Omit<Asset, 'status'>;

/** Contract section 3.3. */
const LINK_LIFETIME_MS = 120_000;

export class AvatarStore {
	verifications = new Map<string, Verification>();
	groups = new Map<string, Group>();
	assets = new Map<string, Asset>();

	constructor(
		private readonly ids: IdMaker,
		private readonly assetMs: Duration,
		private readonly now: () => number,
		private readonly random: () => number,
	) {}

	clear(): void {
		this.verifications.clear();
		this.groups.clear();
		this.assets.clear();
	}

	createVerification(userId: number, callbackUrl: string | undefined, directives: Directives): Verification {
		const createdAt = this.now();
		const verification: Verification = {
			id: this.ids.id('rav_'),
			userId,
			session: this.ids.id('h5'),
			vendorToken: this.ids.id('vt_'),
			createdAt,
			expiresAt: createdAt + (directives.durationMs ?? LINK_LIFETIME_MS),
			directives,
			...(callbackUrl === undefined ? {} : { callbackUrl }),
		};
		this.verifications.set(verification.id, verification);
		return verification;
	}

	isExpired({ expiresAt }: Verification): boolean {
		return this.now() >= expiresAt;
	}

	/** The first outcome counts; passing makes the person's group. */
	decide(verification: Verification, outcome: 'pass' | 'fail'): void {
		if (verification.outcome !== undefined || this.isExpired(verification)) return;
		verification.outcome = outcome;
		if (outcome === 'pass') verification.groupId = this.createGroup('real', verification.userId).id;
	}

	createGroup(kind: AvatarKind, userId: number, name?: string): Group {
		const id = this.ids.id(kind === 'real' ? 'rg_' : 'pg_');
		const group: Group = { id, kind, userId, ...(name === undefined ? {} : { name }) };
		this.groups.set(id, group);
		return group;
	}

	/** A group of the other kind, of another user, or made up is refused alike (contract section 4.6). */
	groupFor(id: string, kind: AvatarKind, userId: number): Group {
		const group = this.groups.get(id);
		if (!group || group.kind !== kind || group.userId !== userId) {
			throw new Refusal(404, `group_id ${id} is not a ${kind} avatar group of this user`, 'group_not_found');
		}
		return group;
	}

	/** The group of a new asset. Which field names it is not shown (contract 4.6, 4.7): `group_id`, or else any. */
	groupNamedIn(body: Record<string, unknown>, kind: AvatarKind, userId: number): Group {
		const { group_id: usual } = body;
		const names = typeof usual === 'string' ? [usual] : Object.values(body);
		const id = names.find((name) => typeof name === 'string' && (name === usual || this.groups.has(name)));
		if (typeof id === 'string') return this.groupFor(id, kind, userId);
		throw new Refusal(404, `The body names no ${kind} avatar group of this user`, 'group_not_found');
	}

	createAsset(group: Group, file: AssetFile, directives: Directives, id?: string): Asset {
		const createdAt = this.now();
		return this.addAsset({
			id: id ?? this.ids.id(group.kind === 'real' ? 'ra_' : 'pa_'),
			kind: group.kind,
			userId: group.userId,
			groupId: group.id,
			file,
			createdAt,
			readyAt: createdAt + (directives.durationMs ?? drawMs(this.assetMs, this.random)),
			directives,
		});
	}

	/** A new asset, or one that was saved. */
	addAsset(saved: SavedAsset): Asset {
		const status = (): AssetStatus => {
			if (this.now() < saved.readyAt) return 'processing';
			return saved.directives.fail === undefined ? 'active' : 'failed';
		};
		const asset = { ...saved, status };
		this.assets.set(asset.id, asset);
		return asset;
	}

	/** Refuses a reference that a generation may not use (contract section 3.2). */
	checkUsable(assetId: string, where: string, userId: number): void {
		const asset = this.assets.get(assetId);
		if (!asset || asset.userId !== userId) {
			throw new Refusal(400, `${where}: asset ${assetId} does not exist`, 'asset_not_found');
		}
		if (asset.status() !== 'active') {
			throw new Refusal(400, `${where}: asset ${assetId} is ${asset.status()}, not active`, 'asset_not_active');
		}
	}
}
