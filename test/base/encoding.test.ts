/** Every encoding of the WHATWG standard: labels, and bytes there and back. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { encodingName, TableEncoding } from '../../src/base/encoding.js';

/** All labels of the standard, by the names of their encodings. */
const LABELS: Readonly<Record<string, string>> = {
  'utf-8': 'unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf8 utf-8 x-unicode20utf8',
  ibm866: '866 cp866 csibm866 ibm866',
  'iso-8859-2': 'csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2',
  'iso-8859-3': 'csisolatin3 iso-8859-3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3',
  'iso-8859-4': 'csisolatin4 iso-8859-4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4',
  'iso-8859-5': 'csisolatincyrillic cyrillic iso-8859-5 iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988',
  'iso-8859-6':
    'arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6 iso-8859-6-e iso-8859-6-i iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987',
  'iso-8859-7':
    'csisolatingreek ecma-118 elot_928 greek greek8 iso-8859-7 iso-ir-126 iso8859-7 iso88597 iso_8859-7 iso_8859-7:1987 sun_eu_greek',
  'iso-8859-8':
    'csiso88598e csisolatinhebrew hebrew iso-8859-8 iso-8859-8-e iso-ir-138 iso8859-8 iso88598 iso_8859-8 iso_8859-8:1988 visual',
  'iso-8859-8-i': 'csiso88598i iso-8859-8-i logical',
  'iso-8859-10': 'csisolatin6 iso-8859-10 iso-ir-157 iso8859-10 iso885910 l6 latin6',
  'iso-8859-13': 'iso-8859-13 iso8859-13 iso885913',
  'iso-8859-14': 'iso-8859-14 iso8859-14 iso885914',
  'iso-8859-15': 'csisolatin9 iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9',
  'iso-8859-16': 'iso-8859-16',
  'koi8-r': 'cskoi8r koi koi8 koi8-r koi8_r',
  'koi8-u': 'koi8-ru koi8-u',
  macintosh: 'csmacintosh mac macintosh x-mac-roman',
  'windows-874': 'dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874',
  'windows-1250': 'cp1250 windows-1250 x-cp1250',
  'windows-1251': 'cp1251 windows-1251 x-cp1251',
  'windows-1252':
    'ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252',
  'windows-1253': 'cp1253 windows-1253 x-cp1253',
  'windows-1254':
    'cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 latin5 windows-1254 x-cp1254',
  'windows-1255': 'cp1255 windows-1255 x-cp1255',
  'windows-1256': 'cp1256 windows-1256 x-cp1256',
  'windows-1257': 'cp1257 windows-1257 x-cp1257',
  'windows-1258': 'cp1258 windows-1258 x-cp1258',
  'x-mac-cyrillic': 'x-mac-cyrillic x-mac-ukrainian',
  gbk: 'chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk',
  gb18030: 'gb18030',
  big5: 'big5 big5-hkscs cn-big5 csbig5 x-x-big5',
  'euc-jp': 'cseucpkdfmtjapanese euc-jp x-euc-jp',
  shift_jis: 'csshiftjis ms932 ms_kanji shift-jis shift_jis sjis windows-31j x-sjis',
  'euc-kr': 'cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 windows-949',
};
/** Their text has no bytes of ASCII, or other ones as well; or only replacement characters. */
const REFUSED: Readonly<Record<string, string>> = {
  'iso-2022-jp': 'csiso2022jp iso-2022-jp',
  replacement: 'csiso2022kr hz-gb-2312 iso-2022-cn iso-2022-cn-ext iso-2022-kr replacement',
  'utf-16be': 'unicodefffe utf-16be',
  'utf-16le': 'csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16le utf-16',
  'x-user-defined': 'x-user-defined',
};

const TABLES = Object.keys(LABELS).filter((name) => name !== 'utf-8');

test('every label of the standard has its encoding, in any case, and others have none', () => {
  for (const [name, labels] of Object.entries(LABELS)) {
    for (const label of labels.split(' ')) {
      assert.equal(encodingName(label), name, label);
      assert.equal(encodingName(` ${label.toUpperCase()}`), name, label);
    }
  }
  const refused = Object.values(REFUSED).flatMap((labels) => labels.split(' '));
  for (const label of [...refused, '', 'cp850', 'utf-7', 'none']) assert.equal(encodingName(label), undefined, label);
});

test('text is as other programs encode it', () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ['windows-1251', 'Отчёт №5', 'cef2f7b8f220b935'],
    ['shift_jis', '表示ソ能', '955c8ea6835c945c'],
    ['gbk', '报告镕', 'b1a8b8e6e946'],
    ['euc-kr', '보고서', 'bab8b0edbcad'],
    ['iso-8859-15', 'Übersicht 5€', 'dc62657273696368742035a4'],
    ['big5', '許功蓋', 'b35ca55cbb5c'],
    ['big5', '十', 'a451'],
    ['koi8-r', 'Отчёт', 'efd4dea3d4'],
    ['euc-jp', '報告書ｱ', 'caf3b9f0bdf18eb1'],
    ['gb18030', '报告㐀😀€', 'b1a8b8e68139ee399439fc36a2e3'],
    ['ibm866', 'Отчёт', '8ee2e7f1e2'],
    ['windows-874', 'รายงาน', 'c3d2c2a7d2b9'],
    ['iso-8859-16', 'Raport ștț', '5261706f727420ba74fe'],
    ['windows-1252', '“Größe” 5€', '934772f6df6594203580'],
    ['macintosh', 'Größe', '47729aa765'],
    ['windows-1253', 'Αναφορά', 'c1ede1f6eff1dc'],
  ];
  for (const [name, text, hex] of cases) {
    const encoding = new TableEncoding(name);
    assert.deepEqual(encoding.encode(text), Buffer.from(hex, 'hex'), name);
    assert.equal(encoding.decode(Buffer.from(hex, 'hex')), text, name);
  }
});

test('what Hong Kong added to Big5 is private characters', () => {
  assert.match(new TableEncoding('big5').decode(Buffer.from('8862', 'hex')), /^\p{Co}$/u);
});

test('any bytes come back from their text, and ASCII is itself', () => {
  const bytes = fc.uint8Array({ maxLength: 24 }).map((array) => Buffer.from(array));
  for (const name of TABLES) {
    const encoding = new TableEncoding(name);
    fc.assert(
      fc.property(bytes, (some) => {
        const text = encoding.decode(some);
        assert.deepEqual(encoding.encode(text), some, name);
        assert.doesNotMatch(text.replace(/[\0-\x7f]/g, ''), /[\p{Cc}\ufffd]/u, name);
      }),
      { numRuns: 300 },
    );
    const ascii = Buffer.from(Array.from({ length: 128 }, (_, code) => code));
    assert.equal(encoding.decode(ascii), ascii.toString('latin1'), name);
  }
});

test('each character has the meaning that Node.js gives its bytes', () => {
  for (const name of TABLES.filter((one) => one !== 'iso-8859-16')) {
    const encoding = new TableEncoding(name);
    const decoder = new TextDecoder(name);
    const characters: string[] = [];
    const lines: Buffer[] = [];
    for (let point = 0x80; point < 0x30000; point++) {
      const character = String.fromCodePoint(point);
      const bytes = character.isWellFormed() ? encoding.encode(character) : '';
      if (typeof bytes === 'string') continue;
      assert.equal(encoding.decode(bytes), character, name);
      characters.push(character);
      lines.push(bytes, Buffer.from('\n'));
    }
    assert.ok(characters.length > 40, `${name} has ${characters.length} characters`);
    // Node.js 20 decodes a part of windows-1252 as control characters.
    if (name !== 'windows-1252') {
      assert.equal(decoder.decode(Buffer.concat(lines)), characters.map((one) => `${one}\n`).join(''), name);
    }
  }
});

test('a character that the encoding does not have is named', () => {
  assert.equal(new TableEncoding('windows-1251').encode('Отчёт 日本'), '日');
  assert.equal(new TableEncoding('shift_jis').encode('a😀b'), '😀');
  assert.equal(new TableEncoding('iso-8859-2').encode('\u0085'), '\u0085');
});
