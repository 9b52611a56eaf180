/**
 * Replies of a control connection, cut by TCP in any way. A failure is a command that gets another one's
 * answer.
 */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { FtpReplyReader } from '../../../src/remotes/ftp/session/reply-reader.js';

function read(...chunks: string[]): { readonly replies: string[]; readonly stray: string[]; readonly pending: number } {
  const replies: string[] = [];
  const stray: string[] = [];
  const reader = new FtpReplyReader({
    reply: ({ code, text }) => replies.push(`${code}: ${text}`),
    stray: (line) => stray.push(line),
  });
  for (const chunk of chunks) reader.accept(chunk);
  return { replies, stray, pending: reader.pending };
}

suite('replies', () => {
  test('one line, several lines, and one that holds another code', () => {
    const text = '220 hello\r\n211-Features:\r\n SIZE\r\n220 no end\r\n211 End\r\n226\r\n';
    assert.deepEqual(read(text).replies, [
      '220: 220 hello',
      '211: 211-Features:\n SIZE\n220 no end\n211 End',
      '226: 226',
    ]);
  });

  test('empty lines are ignored', () => {
    assert.deepEqual(read('\r\n\r\n220-a\r\n\r\n220 b\r\n'), { replies: ['220: 220-a\n220 b'], stray: [], pending: 0 });
  });

  test('text that is no reply is reported as soon as it is recognised', () => {
    assert.deepEqual(read('SSH-2.0-x').stray, ['SSH-2.0-x']);
    assert.deepEqual(read('2', '20', ' hi\r\n').stray, []);
    assert.deepEqual(read('hello\r\n220 hi\r\n'), { replies: ['220: 220 hi'], stray: ['hello'], pending: 0 });
  });

  test('within a reply any text belongs to it', () => {
    assert.deepEqual(read('211-a\r\nSSH-2.0\r\n').stray, []);
  });

  test('however they are cut, the replies are the same', () => {
    const line = fc.constantFrom('220 a', '220-a', 'text', '', '226 done', '550-no', '550 no', '2', ' 211 x');
    fc.assert(
      fc.property(fc.array(line), fc.array(fc.nat(40)), (lines, cuts) => {
        const text = lines.map((one) => `${one}\r\n`).join('');
        const places = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].sort((a, b) => a - b);
        const pieces = [0, ...places].map((from, index) => text.slice(from, places[index] ?? text.length));
        assert.deepEqual(read(...pieces).replies, read(text).replies);
      }),
    );
  });
});
