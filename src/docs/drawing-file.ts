/** The file of a diagram's drawing: the generator writes it, the site reads it. */
import { createHash } from 'node:crypto';

/** The path from the root of the project; the name changes with the source. */
export function drawingOf(source: string): string {
  return `docs/diagrams/${createHash('sha256').update(source.trim()).digest('hex').slice(0, 16)}.svg`;
}
