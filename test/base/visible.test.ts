/** Characters that are invisible, or reverse text, are shown as symbols; text in any script is unchanged. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { visible } from '../../src/base/visible.js';

test('controls, bidirectional controls, zero-width characters, fillers and tags become symbols', () => {
  assert.equal(visible('\u202egnp.exe.txt'), '⟨U+202E⟩gnp.exe.txt');
  assert.equal(visible('a\nb\u007f\u0085'), 'a␊b␡⟨U+0085⟩');
  for (const code of [
    ...[0x00, 0x1b, 0x9f, 0xad, 0x34f, 0x61c, 0x180e, 0x200b, 0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202d, 0x2060],
    ...[0x2066, 0x2069, 0x206f, 0x3164, 0xfeff, 0xffa0, 0xfff9, 0xe0001, 0xe0041],
  ]) {
    const character = String.fromCodePoint(code);
    assert.ok(!visible(`a${character}b`).includes(character), code.toString(16));
  }
  // Between letters that are never joined.
  assert.equal(visible('pay\u200dpal\u200c'), 'pay⟨U+200D⟩pal⟨U+200C⟩');
});

test('names in any script, and emoji, are unchanged', () => {
  for (const name of [
    'Übersicht.csv',
    '報告書.pdf',
    'تقرير.txt',
    'می\u200cخواهم.txt',
    'क्\u200dष.txt',
    '👨\u200d👩\u200d👧.png',
    '🏳️\u200d🌈',
  ]) {
    assert.equal(visible(name), name);
  }
  assert.equal(visible('two\nlines', undefined, '\n'), 'two\nlines');
});
