/** The sender's proof of what was stored: a text file, made in the browser. */
import { visible } from '../../../base/visible.ts';
import type { PageData } from './page-data.ts';
import type { Row } from './row.ts';

const KEPT_MS = 60_000;

export function saveReceipt(rows: readonly Row[], { words, language }: PageData): void {
  const { title, storedAt } = words.receipt;
  const bytes = new Intl.NumberFormat(language, { style: 'unit', unit: 'byte', unitDisplay: 'long' });
  const files = rows.flatMap(({ stored }) =>
    stored === undefined
      ? []
      : [
          [
            visible(stored.name),
            `  ${bytes.format(stored.size)}`,
            ...(stored.digest === undefined ? [] : [`  SHA-256 ${hexOf(stored.digest)}`]),
            `  ${storedAt} ${stored.at.toISOString()}`,
          ].join('\n'),
        ],
  );
  const text = `${title}\n${location.host}\n\n${files.join('\n\n')}\n`;
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/plain;charset=utf-8' }));
  link.download = 'receipt.txt';
  link.click();
  // A browser may begin to read it only after this turn.
  setTimeout(() => URL.revokeObjectURL(link.href), KEPT_MS);
}

function hexOf(base64: string): string {
  return Array.from(atob(base64), (byte) => byte.charCodeAt(0).toString(16).padStart(2, '0')).join('');
}
