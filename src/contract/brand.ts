/** The brand of an account: who asks, on the pages of its links. */
import { NAME } from './patterns.js';
import { text, textOrNull } from './schema.js';
import { given, type RowOf } from './thing.js';

const BRAND_NAME = 'Who asks for files or shares them, as the pages of links say it; null = they say nothing.';
const COLOR = 'Colour of the buttons: `#` and six hexadecimal digits; null = blue. Their text is black or white.';
const LOGO = 'Image at the top of the page, in base64: PNG, JPEG or WebP, at most 64 KiB; null = none.';

const ONE_LINE = { minLength: 1, maxLength: 80, pattern: NAME };

export const brandFields = {
  name: given(textOrNull(BRAND_NAME, ONE_LINE), {
    texts: { label: 'Name', hint: 'Everyone who has a link reads it. Empty: the page says nothing about you.' },
    option: { flags: '--name <name>', help: 'who asks for files or shares them' },
    column: 'brandName',
    default: null,
    file: {
      schema: text('text of 1 to 80 characters in one line', ONE_LINE),
      words: '1 to 80 characters',
      example: 'ACME Ltd',
    },
  }),
  color: given(textOrNull(COLOR, { pattern: '^#[0-9A-Fa-f]{6}$' }), {
    texts: { label: 'Colour', hint: 'The buttons have it: # and six hexadecimal digits. Empty: blue.' },
    option: { flags: '--color <color>', help: 'colour of the buttons, such as #0757b8' },
    example: '#0757b8',
    column: 'brandColor',
    default: null,
    file: {
      allowed: '# and six hexadecimal digits, in quotes',
      words: 'colour of the buttons; their text is black or white',
      example: '#0757b8',
    },
  }),
  logo: given(textOrNull(LOGO, { contentEncoding: 'base64' }), {
    texts: { label: 'Logo', hint: 'PNG, JPEG or WebP, at most 64 KiB.' },
    column: 'brandLogo',
    default: null,
    file: {
      key: 'logoFile',
      isOnlyFile: true,
      allowed: 'the path of an image',
      words: "PNG, JPEG or WebP, at most 64 KiB; '' = none",
    },
    shown: textOrNull(LOGO, { contentEncoding: 'base64' }),
    show: (logo: Buffer | null) => logo && logo.toString('base64'),
  }),
};

export type Brand = RowOf<typeof brandFields>;
