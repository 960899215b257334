import { Bench } from './helpers';

test('the inbox shows what was posted, the newest first, as text', async () => {
	const bench = new Bench();
	const empty = await bench.get('/inbox', null);
	expect(empty.headers['content-type']).toMatch(/^text\/html/);
	expect(empty.text).toContain('Nothing has arrived yet');

	const url = 'http://127.0.0.1:1/a.png?one=1&two=2';
	expect((await bench.post('/inbox/chat', { text: '<b>Here</b>', url }, null)).json).toEqual({ received: true });
	await bench.post('/inbox/videos', { order: '17' }, null);
	const { text } = await bench.get('/inbox', null);
	expect(text.indexOf('to videos')).toBeLessThan(text.indexOf('to chat'));
	expect(text).toContain('&#60;b&#62;Here&#60;/b&#62;');
	const link = 'http://127.0.0.1:1/a.png?one=1&#38;two=2';
	expect(text).toContain(`<a href="${link}">${link}</a>`);

	bench.sandbox.reset();
	expect((await bench.get('/inbox', null)).text).toContain('Nothing has arrived yet');
});
