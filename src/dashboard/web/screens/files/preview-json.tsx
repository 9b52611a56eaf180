/** JSON as a tree that folds. Folded parts are not drawn, so depth and length cost nothing. */
import { useState, type ReactElement } from 'react';
import { formatNumber } from '../../format.ts';
import { t } from '../../texts/texts.ts';
import { Button } from '../../ui/basics.tsx';

/** Drawn entries per object or array. */
const MOST_PARTS = 200;
/** Levels that are open at the start. */
const OPEN_LEVELS = 2;

export function parsed(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

export function JsonTree({ value }: { readonly value: unknown }): ReactElement {
  return (
    <div className="preview-text json-tree" tabIndex={0} role="region" aria-label={t.files.preview.content}>
      <Part value={value} level={0} />
    </div>
  );
}

function Part(props: { readonly name?: string; readonly value: unknown; readonly level: number }): ReactElement {
  const { name, value, level } = props;
  const [isOpen, setOpen] = useState(level < OPEN_LEVELS);
  const [most, setMost] = useState(MOST_PARTS);
  const label = name === undefined ? null : <span className="json-name">{name}: </span>;
  if (typeof value !== 'object' || value === null) {
    return (
      <div className="json-part">
        {label}
        <span className={`json-${value === null ? 'null' : typeof value}`}>{JSON.stringify(value)}</span>
      </div>
    );
  }
  const isArray = Array.isArray(value);
  const parts: readonly (readonly [string, unknown])[] = Object.entries(value);
  return (
    <details className="json-part" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {label}
        <span className="muted">
          {isArray
            ? t.files.preview.items(formatNumber(parts.length))
            : t.files.preview.fields(formatNumber(parts.length))}
        </span>
      </summary>
      {isOpen && (
        <div className="json-parts">
          {parts.slice(0, most).map(([key, part]) => (
            <Part key={key} name={key} value={part} level={level + 1} />
          ))}
          {parts.length > most && (
            <Button variant="quiet" onClick={() => setMost(most + MOST_PARTS)}>
              {t.files.preview.more(formatNumber(parts.length - most))}
            </Button>
          )}
        </div>
      )}
    </details>
  );
}
