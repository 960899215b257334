/** The jobs that a refusal holds back, and those that it does not. */
import { SubmissionGate, UPLOADS } from '../../core/orders/submissionGate';
import { trouble } from './support';

const [model, group] = ['the model beta-v3', 'the group g1'];
const reason = (gate: SubmissionGate, ...scopes: string[]) => {
	const { kind, details } = gate.reasonFor(...scopes) ?? {};
	return kind && { kind, data: details?.reason?.data };
};
const heldBack = (because: string, scope?: string) => ({ kind: 'notSubmitted', data: { because, scope } });
const because = (words: string) => Object.assign(trouble('permission'), { message: words });

test('while the gate is open, nothing is held back, and what waits for another try goes on', () => {
	const gate = new SubmissionGate();
	expect([gate.reasonFor(), gate.reasonFor(model, UPLOADS)]).toEqual([undefined, undefined]);
	expect([gate.signalOf().aborted, gate.signalOf(model).aborted]).toEqual([false, false]);
	expect(() => gate.assertOpen(model)).not.toThrow();
});

test('closed for everything, the gate holds back every scope, those that are under way and those that come', () => {
	const gate = new SubmissionGate();
	const before = [gate.signalOf(), gate.signalOf(model)];
	gate.close(because('no balance'));
	expect(before.map(({ aborted }) => aborted)).toEqual([true, true]);
	expect([gate.signalOf(), gate.signalOf(model), gate.signalOf(group)].map(({ aborted }) => aborted)).toEqual([
		true,
		true,
		true,
	]);
	for (const scopes of [[], [model], [group, UPLOADS]]) expect(reason(gate, ...scopes)).toEqual(heldBack('no balance'));
	expect(() => gate.assertOpen()).toThrow(expect.objectContaining({ kind: 'notSubmitted' }));
});

test('closed for a model, the gate holds back only that', () => {
	const gate = new SubmissionGate();
	const before = [gate.signalOf(), gate.signalOf(model), gate.signalOf(group)];
	gate.close(because('not this model'), model);
	expect(before.map(({ aborted }) => aborted)).toEqual([false, true, false]);
	expect([gate.signalOf().aborted, gate.signalOf(model).aborted, gate.signalOf(group).aborted]).toEqual([
		false,
		true,
		false,
	]);
	expect([reason(gate), reason(gate, group)]).toEqual([undefined, undefined]);
	expect(reason(gate, model)).toEqual(heldBack('not this model', model));
	expect(reason(gate, group, model)).toEqual(heldBack('not this model', model));
	expect(() => gate.assertOpen(group)).not.toThrow();
	expect(() => gate.assertOpen(model)).toThrow(expect.objectContaining({ kind: 'notSubmitted' }));
});

test('closed for uploads, the gate lets items without files go on', () => {
	const gate = new SubmissionGate();
	gate.close(because('no uploads'), UPLOADS);
	expect(reason(gate, model)).toBeUndefined();
	expect(reason(gate, model, UPLOADS)).toEqual(heldBack('no uploads', 'uploads'));
});

test('the first reason of a closed gate stays, and one for everything comes first', () => {
	const gate = new SubmissionGate();
	gate.close(because('first'), model);
	gate.close(because('second'), model);
	expect(reason(gate, model)).toEqual(heldBack('first', model));
	gate.close(because('third'));
	gate.close(because('fourth'));
	expect(reason(gate, model)).toEqual(heldBack('third'));
});

test('the gate has one signal for all of a scope', () => {
	const gate = new SubmissionGate();
	expect(gate.signalOf(model)).toBe(gate.signalOf(model));
	expect(gate.signalOf(model)).not.toBe(gate.signalOf(group));
});

test('a stop of the gate ends what waits for another try, without a reason of its own', () => {
	const gate = new SubmissionGate();
	const signals = [gate.signalOf(), gate.signalOf(model)];
	gate.stop();
	expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
	expect(gate.reasonFor(model)).toBeUndefined();
});

test('a gate that is over lets nothing be submitted; a reason is said before that', () => {
	const gate = new SubmissionGate();
	gate.stop();
	expect(() => gate.assertOpen(model)).toThrow(expect.objectContaining({ kind: 'stopped' }));
	gate.close(because('no balance'));
	expect(() => gate.assertOpen(model)).toThrow(expect.objectContaining({ kind: 'notSubmitted' }));
});
