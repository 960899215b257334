import { FaultQueue } from '../faults/queue.mts';
import type { Settings } from '../options.mts';
import type { LinkCheck } from '../rules/links.mts';
import { invalidRequest } from '../http/refusal.mts';
import { Accounts } from './accounts.mts';
import { AvatarStore } from './avatars.mts';
import { IdMaker } from './ids.mts';
import { RateLimit } from './rateLimit.mts';
import { RequestLog } from './requestLog.mts';
import { TaskLedger } from './tasks.mts';

export interface Upload {
	id: string;
	/** The path at which the file host serves it. */
	path: string;
	fileName: string;
	contentType: string;
	bytes: Buffer;
	userId: number;
	at: number;
}

/** A request that a workflow has sent to the inbox. */
export interface Message {
	at: number;
	/** The path below `/inbox/`. */
	to: string;
	body: unknown;
}

/** Base addresses without a slash at the end. `mirror` is the file host under another host name. */
export interface Addresses {
	api: string;
	files: string;
	mirror: string;
}

/** Everything that one sandbox remembers; the routes share it. */
export class World {
	readonly ids: IdMaker;
	readonly accounts: Accounts;
	readonly tasks: TaskLedger;
	readonly avatars: AvatarStore;
	readonly rateLimit: RateLimit;
	readonly faults = new FaultQueue();
	readonly apiLog = new RequestLog();
	readonly filesLog = new RequestLog();
	/** By path. */
	readonly uploads = new Map<string, Upload>();
	/** The newest first. */
	readonly inbox: Message[] = [];
	/** The uses of a directive's answers, by task, file or prompt. */
	readonly directiveUses = new Map<string, number>();
	/** The addresses; these names hold until it listens. */
	addresses: Addresses = {
		api: 'http://sandbox.test',
		files: 'http://files.sandbox.test',
		mirror: 'http://mirror.sandbox.test',
	};

	constructor(readonly settings: Settings) {
		const { now, random } = settings;
		this.ids = new IdMaker(random);
		this.accounts = new Accounts(settings.apiKeys, settings.balanceUsd, now);
		this.tasks = new TaskLedger(this.ids, { image: settings.imageTaskMs, video: settings.videoTaskMs }, now, random);
		this.avatars = new AvatarStore(this.ids, settings.assetMs, now, random);
		this.rateLimit = new RateLimit(settings.requestsPerSecond);
	}

	now(): number {
		return this.settings.now();
	}

	/** The check of links in a request of this user. */
	linkCheck(userId: number): LinkCheck {
		return {
			asset: (assetId, where) => this.avatars.checkUsable(assetId, where, userId),
			uploaded: (url, where) => {
				const uploads = `${this.addresses.files}/uploads/`;
				if (url.startsWith(uploads) && !this.uploads.has(new URL(url).pathname)) {
					throw invalidRequest(`${where}: nothing was uploaded at ${url}`);
				}
			},
		};
	}

	/** As just started. */
	reset(): void {
		this.accounts.clear();
		this.tasks.clear();
		this.avatars.clear();
		this.rateLimit.clear();
		this.faults.clear();
		this.apiLog.clear();
		this.filesLog.clear();
		this.uploads.clear();
		this.inbox.length = 0;
		this.directiveUses.clear();
	}
}
