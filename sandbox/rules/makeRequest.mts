import { Refusal } from '../http/refusal.mts';
import { FieldMaker, type Dice } from './fieldMaker.mts';
import type { Body, Fields } from './fields.mts';
import { imageRules } from './image.mts';
import type { LinkCheck } from './links.mts';
import { MODELS } from './video/index.mts';

const TRIES = 500;
const anything: LinkCheck = { asset: () => {}, uploaded: () => {} };

/**
 * A request that the contract allows, made by the rules that check it: each field is made up when a rule asks for it,
 * and what the rules between fields refuse is thrown away.
 */
export function makeRequest(model: string, dice: Dice): Body {
	const rules = model === 'gamma-image-2' ? (fields: Fields) => imageRules(fields, anything) : videoRules(model);
	for (let tries = 0; tries < TRIES; tries += 1) {
		const maker = new FieldMaker(dice, { model });
		try {
			rules(maker);
			return maker.body;
		} catch (thrown) {
			if (!(thrown instanceof Refusal)) throw thrown;
		}
	}
	throw new Error(`No request for ${model} in ${TRIES} tries`);
}

function videoRules(model: string): (fields: Fields) => unknown {
	const rules = MODELS[model];
	if (rules === undefined) throw new Error(`There are no rules for ${model}`);
	return (fields) => rules(fields, {}, anything);
}
