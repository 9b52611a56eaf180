/** The brand of an account on the pages of its links: the logo, and a style with its colour. */
import { escapeHtml } from '../base/html.js';
import { imageTypeOf } from '../base/image-type.js';
import type { Brand } from '../contract/brand.js';

/** An image in the page itself, so that the page still loads nothing; '' without a logo. */
export function logoOf({ logo, name }: Brand): string {
  const type = logo === null ? undefined : imageTypeOf(logo);
  if (logo === null || type === undefined) return '';
  return `<img class="logo" alt="${escapeHtml(name ?? '')}" src="data:${type};base64,${logo.toString('base64')}">`;
}

/** The rule that colours buttons; '' without a colour. */
export function styleOf({ color }: Brand): string {
  return color === null ? '' : `:root{--button:${color};--on-button:${textOn(color)};--edge:var(--line)}`;
}

/** Black or white, the one with more contrast (WCAG 2.2, 1.4.3): at least 4.58. */
function textOn(color: string): string {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((start) => linear(parseInt(color.slice(start, start + 2), 16)));
  const luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  return (luminance + 0.05) ** 2 > 1.05 * 0.05 ? '#000' : '#fff';
}

function linear(channel: number): number {
  const share = channel / 255;
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
}
