import { Refusal } from '../http/refusal.mts';
import { FieldMaker, type Dice } from './fieldMaker.mts';
import type { Body } from './fields.mts';
import { IMAGE_MODELS } from './image/index.mts';
import type { LinkCheck } from './links.mts';
import { VIDEO_MODELS } from './video/index.mts';

const TRIES = 500;
const anything: LinkCheck = { asset: () => {}, uploaded: () => {} };

/**
 * A request that the contract allows, made by the rules that check it: each field is made up when a rule asks for it,
 * and what the rules between fields refuse is thrown away.
 */
export function makeRequest(model: string, dice: Dice): Body {
	const rules = IMAGE_MODELS[model] ?? VIDEO_MODELS[model];
	if (rules === undefined) throw new Error(`There are no rules for ${model}`);
	for (let tries = 0; tries < TRIES; tries += 1) {
		const maker = new FieldMaker(dice, { model });
		try {
			rules(maker, {}, anything);
			return maker.body;
		} catch (thrown) {
			if (!(thrown instanceof Refusal)) throw thrown;
		}
	}
	throw new Error(`No request for ${model} in ${TRIES} tries`);
}
