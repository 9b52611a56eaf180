/** The types of images that every browser shows and that hold no script. */
type ImageType = 'image/png' | 'image/jpeg' | 'image/webp';

const FIRST_BYTES: readonly (readonly [ImageType, RegExp])[] = [
  ['image/png', /^\x89PNG\r\n[^\n]\n.{4}IHDR/s],
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/webp', /^RIFF.{4}WEBPVP8/s],
];

/** The type of an image by its first bytes; undefined = none of these. */
export function imageTypeOf(bytes: Buffer): ImageType | undefined {
  const head = bytes.toString('latin1', 0, 16);
  return FIRST_BYTES.find(([, pattern]) => pattern.test(head))?.[0];
}
