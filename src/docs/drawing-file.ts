/** Where the drawing of a diagram is kept: the generator writes it, the site reads it. */
import { createHash } from 'node:crypto';

/** The file of a drawing, from the root of the project; its name changes with its source. */
export function drawingOf(source: string): string {
  return `docs/diagrams/${createHash('sha256').update(source.trim()).digest('hex').slice(0, 16)}.svg`;
}
