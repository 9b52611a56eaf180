/** Rows that are chosen with check boxes, and the actions on all of them. */
import { type KeyboardEvent, type ReactElement, type ReactNode, useRef, useState } from 'react';
import { causeOf } from '../api/client.ts';
import { useAction } from '../api/hooks.ts';
import { formatNumber } from '../format.ts';
import { t } from '../texts/texts.ts';
import { showToast } from '../toasts.ts';
import { Button, type Column } from './basics.tsx';
import { part } from './part.tsx';
import { type IconComponent, X } from './icons.tsx';

const Confirm = part(() => import('./confirm.ts'), <></>);

interface BulkAction<R> {
  readonly verb: string;
  readonly icon: IconComponent;
  /** Whether the row can be acted on. Others are left out. */
  readonly fits: (row: R) => boolean;
  readonly run: (row: R) => Promise<unknown>;
  readonly refreshes: readonly string[];
  /** What the action does, if it cannot be undone. It is shown with the names before the action. */
  readonly warning?: string;
}

export interface Bulk<R> {
  readonly nameOf: (row: R) => string;
  readonly actions: readonly BulkAction<R>[];
}

interface Selecting<R> {
  /** The column of check boxes. */
  readonly column: Column<R>;
  readonly bar: ReactNode;
  readonly onKeyDown: (event: KeyboardEvent<HTMLElement>) => void;
}

/** Shift and a click choose all rows from the last one. Escape clears the selection. */
export function useSelection<R>(
  rows: readonly R[],
  keyOf: (row: R) => string,
  { nameOf, actions }: Bulk<R>,
): Selecting<R> {
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const last = useRef<string>(undefined);
  const all = useRef<HTMLInputElement>(null);
  const keys = rows.map(keyOf);
  const chosen = rows.filter((row) => selected.has(keyOf(row)));
  const isAll = chosen.length > 0 && chosen.length === rows.length;
  const clear = (): void => {
    setSelected(new Set());
    all.current?.focus();
  };
  const toggle = (key: string, isRange: boolean): void => {
    const from = isRange && last.current !== undefined ? keys.indexOf(last.current) : -1;
    const to = keys.indexOf(key);
    const range = from < 0 ? [key] : keys.slice(Math.min(from, to), Math.max(from, to) + 1);
    const isOn = !selected.has(key);
    const next = new Set(selected);
    for (const one of range) {
      if (isOn) next.add(one);
      else next.delete(one);
    }
    setSelected(next);
    last.current = key;
  };
  return {
    column: {
      head: t.common.selectAll,
      isHeadHidden: true,
      isCheck: true,
      headCell: (
        <input
          type="checkbox"
          aria-label={t.common.selectAll}
          checked={isAll}
          ref={(box) => {
            all.current = box;
            if (box !== null) box.indeterminate = chosen.length > 0 && !isAll;
          }}
          onChange={() => setSelected(isAll ? new Set() : new Set(keys))}
        />
      ),
      cell: (row) => (
        <input
          type="checkbox"
          aria-label={t.common.selectOne(nameOf(row))}
          checked={selected.has(keyOf(row))}
          readOnly
          onClick={({ shiftKey }) => toggle(keyOf(row), shiftKey)}
        />
      ),
    },
    bar: chosen.length > 0 && (
      <SelectionBar count={chosen.length} onClear={clear}>
        {!actions.some(({ fits }) => chosen.some(fits)) && <span className="muted">{t.common.noActionFits}</span>}
        {actions.map((action) => (
          <ActOnAll key={action.verb} action={action} rows={chosen} nameOf={nameOf} onDone={clear} />
        ))}
      </SelectionBar>
    ),
    onKeyDown: ({ key, target, currentTarget }) => {
      // Events of dialogs and menus come here too, but their elements are elsewhere.
      if (key === 'Escape' && chosen.length > 0 && target instanceof Node && currentTarget.contains(target)) clear();
    },
  };
}

/** The bar of a selection: the count, the actions, and a button that clears the selection. */
export function SelectionBar(props: {
  readonly count: number;
  readonly details?: string | undefined;
  readonly onClear: () => void;
  readonly children: ReactNode;
}): ReactElement {
  const { count, details, onClear, children } = props;
  return (
    <div className="selection-bar" role="toolbar" aria-label={t.common.selectionActions}>
      <span role="status">
        {t.common.selected(formatNumber(count))}
        {details !== undefined && <span className="muted"> · {details}</span>}
      </span>
      {children}
      <Button variant="quiet" icon={X} aria-label={t.common.selectNone} onClick={onClear}>
        {t.common.clear}
      </Button>
    </div>
  );
}

/** The button of one action. A toast shows how many rows it succeeded for, and the first reason of a failure. */
function ActOnAll<R>(props: {
  readonly action: BulkAction<R>;
  readonly rows: readonly R[];
  readonly nameOf: (row: R) => string;
  readonly onDone: () => void;
}): ReactElement | null {
  const { action, rows, nameOf, onDone } = props;
  const { verb, icon, fits, run, refreshes, warning } = action;
  const [isAsking, setAsking] = useState(false);
  const fitting = rows.filter(fits);
  const runAll = async (): Promise<boolean> => {
    const results = await Promise.allSettled(fitting.map(run));
    const failures = results.filter((result) => result.status === 'rejected');
    const done = formatNumber(results.length - failures.length);
    const [first] = failures;
    if (first === undefined) showToast(t.common.bulkDone(verb, done));
    else showToast(t.common.bulkFailed(verb, done, formatNumber(failures.length)), 'bad', causeOf(first.reason));
    return first === undefined;
  };
  const { isPending, mutate } = useAction(runAll, {
    refreshes,
    onDone: (isAll) => {
      setAsking(false);
      // After a failure the rows stay chosen, for another try.
      if (isAll) onDone();
    },
  });
  if (fitting.length === 0) return null;
  const label = fitting.length === rows.length ? verb : `${verb} (${formatNumber(fitting.length)})`;
  return (
    <>
      <Button icon={icon} isBusy={isPending} onClick={() => (warning === undefined ? mutate() : setAsking(true))}>
        {label}
      </Button>
      {isAsking && (
        <Confirm
          title={`${verb}: ${formatNumber(fitting.length)}`}
          verb={verb}
          names={fitting.map(nameOf)}
          isBusy={isPending}
          onConfirm={() => mutate()}
          onClose={() => setAsking(false)}
        >
          {warning}
        </Confirm>
      )}
    </>
  );
}
