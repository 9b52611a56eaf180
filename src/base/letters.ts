/** Names and texts in other spellings. */

/** With a capital at its beginning. */
export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** `maxSize` as `max_size`, for `by` "_". */
export const separated = (name: string, by: string): string =>
  name.replace(/[A-Z]/g, (letter) => by + letter.toLowerCase());

/** `max-size` and `max_size` as `maxSize`. */
export const camel = (name: string): string =>
  name.replace(/[-_]([a-z])/g, (_, letter: string) => letter.toUpperCase());
