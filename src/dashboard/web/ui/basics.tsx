/** The basic components of all screens. */
import {
  type ButtonHTMLAttributes,
  type ReactElement,
  type ReactNode,
  useEffect,
  useId,
  useRef,
  useState,
} from 'react';
import { Link } from 'wouter';
import { every } from '../../../base/every.ts';
import { visible } from '../../../base/visible.ts';
import { causeOf } from '../api/client.ts';
import { t } from '../texts/texts.ts';
import { showToast } from '../toasts.ts';
import { formatAgo, formatDateTime, formatSeconds, formatShortTime } from '../format.ts';
import { Check, Copy, Download, type IconComponent, Inbox, LoaderCircle, TriangleAlert } from './icons.tsx';
import { Reason } from './reason.tsx';

export type Tone = 'good' | 'bad' | 'warn' | 'info' | 'plain';

export interface ButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'disabled'> {
  readonly variant?: 'primary' | 'plain' | 'danger' | 'quiet';
  readonly icon?: IconComponent;
  readonly isBusy?: boolean;
  /** Why it does nothing now. */
  readonly disabledBecause?: string | false | undefined;
}

/**
 * A button that does nothing now keeps the focus, which a disabled one loses. It describes why, and again on a click.
 */
export function Button({
  variant = 'plain',
  icon: Icon,
  isBusy = false,
  disabledBecause: reason = false,
  children,
  ...rest
}: ButtonProps): ReactElement {
  const isOff = isBusy || reason !== false;
  return (
    <button
      type="button"
      {...rest}
      {...(reason === false ? {} : { title: reason })}
      className={`button ${variant} ${rest.className ?? ''}`}
      aria-busy={isBusy}
      aria-disabled={isOff ? true : undefined}
      onClick={(event) => {
        if (!isOff) return rest.onClick?.(event);
        event.preventDefault();
        if (reason !== false) showToast(reason, 'bad');
      }}
    >
      {isBusy ? (
        <LoaderCircle aria-hidden size={15} className="spin" />
      ) : (
        Icon !== undefined && <Icon aria-hidden size={15} />
      )}
      {children}
    </button>
  );
}

export function LinkButton(props: {
  readonly href: string;
  readonly variant?: 'primary' | 'plain' | 'quiet';
  readonly icon?: IconComponent;
  readonly 'aria-label'?: string;
  readonly children: ReactNode;
}): ReactElement {
  const { variant = 'plain', icon: Icon, children, ...link } = props;
  return (
    <Link {...link} className={`button ${variant}`}>
      {Icon !== undefined && <Icon aria-hidden size={15} />}
      {children}
    </Link>
  );
}

/** A link that saves the gateway's answer as a file. */
export function DownloadLink(props: {
  readonly href: string;
  /** Replaces the gateway's file name. */
  readonly filename?: string;
  readonly children: ReactNode;
}): ReactElement {
  const { href, filename = true, children } = props;
  return (
    <a className="button plain" href={href} download={filename}>
      <Download aria-hidden size={15} /> {children}
    </a>
  );
}

export interface PageProps {
  readonly title: string;
  readonly actions?: ReactNode;
  readonly lead?: ReactNode;
  readonly children: ReactNode;
}

/** A screen. Its title is the document's, and takes the focus after a change of screens. */
export function Page({ title, actions, lead, children }: PageProps): ReactElement {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${visible(title)} – ${t.common.product}`;
  }, [title]);
  useEffect(() => {
    if (hasNavigated) heading.current?.focus({ preventScroll: true });
    hasNavigated = true;
  }, []);
  return (
    <div className="page">
      <header className="page-head">
        <div>
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {lead !== undefined && <p className="lead">{lead}</p>}
        </div>
        {actions !== undefined && actions !== false && <div className="actions">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

let hasNavigated = false;

export function Panel(props: {
  readonly title?: string;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
  /** For content other than a list. A list fills the panel to its edges. */
  readonly isPadded?: boolean;
}): ReactElement {
  const id = useId();
  return (
    <section className="panel" aria-labelledby={props.title === undefined ? undefined : id}>
      {props.title !== undefined && (
        <header className="panel-head">
          <h2 id={id}>{props.title}</h2>
          {props.actions}
        </header>
      )}
      {props.isPadded === true ? <div className="panel-body">{props.children}</div> : props.children}
    </section>
  );
}

export function Badge({ tone = 'plain', children }: { tone?: Tone; children: ReactNode }): ReactElement {
  return <span className={`badge ${tone}`}>{children}</span>;
}

export function Notice(props: {
  readonly tone?: Tone;
  readonly title?: string;
  readonly children?: ReactNode;
  readonly isAlert?: boolean;
}): ReactElement {
  const { tone = 'info', title, children, isAlert = false } = props;
  return (
    <div className={`notice ${tone}`} role={isAlert ? 'alert' : undefined}>
      {(tone === 'bad' || tone === 'warn') && <TriangleAlert aria-hidden size={16} />}
      <div>
        {title !== undefined && <strong>{title}</strong>}
        {children !== undefined && <div>{children}</div>}
      </div>
    </div>
  );
}

export function LiveBadge({ isLive }: { readonly isLive: boolean }): ReactElement {
  return isLive ? <Badge tone="good">{t.common.live}</Badge> : <Badge tone="warn">{t.common.connecting}</Badge>;
}

/** Why a request failed; empty without an error. */
export function Failure({ error, title }: { readonly error: Error | null | undefined; readonly title?: string }) {
  if (error === null || error === undefined) return null;
  return (
    <Notice tone="bad" isAlert {...(title === undefined ? {} : { title })}>
      <Reason {...causeOf(error)} />
    </Notice>
  );
}

/** Shown in place of an empty list. It explains what the list will contain and how. */
export function Empty(props: {
  readonly title: string;
  readonly children: ReactNode;
  readonly action?: ReactNode;
  readonly icon?: IconComponent;
}): ReactElement {
  const { title, children, action, icon: Icon = Inbox } = props;
  return (
    <div className="empty">
      <Icon aria-hidden size={28} strokeWidth={1.5} />
      <h2>{title}</h2>
      <div>{children}</div>
      {action}
    </div>
  );
}

export interface Reading<T> {
  readonly data: T | undefined;
  readonly error: Error | null;
  readonly refetch: () => unknown;
}

/** Draws the answer of a read. Until it arrives, it shows the state of the read. */
export function Loaded<T>(props: { readonly of: Reading<T>; readonly children: (data: T) => ReactNode }): ReactNode {
  const { data, error, refetch } = props.of;
  return data === undefined ? <Pending error={error} onRetry={() => void refetch()} /> : props.children(data);
}

/** The state of a read without an answer: a placeholder or the error. */
export function Pending({ error, onRetry }: { error: Error | null; onRetry?: () => void }): ReactElement {
  if (error === null) return <Skeleton />;
  return (
    <Notice tone="bad" title={t.common.notLoaded} isAlert>
      <p>
        <Reason {...causeOf(error)} />
      </p>
      {onRetry !== undefined && <Button onClick={onRetry}>{t.common.tryAgain}</Button>}
    </Notice>
  );
}

export function Skeleton(): ReactElement {
  return (
    <div className="skeleton" role="status" aria-label={t.common.loading}>
      <span />
      <span />
      <span />
    </div>
  );
}

export function Time(props: {
  /** Null draws the alternative text. */
  readonly iso: string | null;
  readonly form?: 'short' | 'seconds' | 'long';
  readonly otherwise?: string;
}): ReactElement {
  const { iso, form = 'short', otherwise } = props;
  if (iso === null) return <span className="muted">{otherwise}</span>;
  const format = { short: formatShortTime, seconds: formatSeconds, long: formatDateTime }[form];
  return (
    <time dateTime={iso} title={formatDateTime(iso)} className={form === 'seconds' ? 'nowrap number' : undefined}>
      {format(iso)}
    </time>
  );
}

export function Ago({ iso, otherwise }: { readonly iso: string | null; readonly otherwise?: string }): ReactElement {
  if (iso === null) return <span className="muted">{otherwise}</span>;
  return (
    <time dateTime={iso} title={formatDateTime(iso)}>
      {formatAgo(iso)}
    </time>
  );
}

export function CopyButton({
  text,
  label = t.common.copy,
  variant = 'plain',
}: {
  readonly text: string;
  readonly label?: string;
  readonly variant?: 'plain' | 'primary' | 'quiet';
}): ReactElement {
  const [isCopied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await writeClipboard(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 2_000);
  };
  return (
    <Button variant={variant} icon={isCopied ? Check : Copy} onClick={() => void copy()}>
      <span aria-live="polite">{isCopied ? t.common.copied : label}</span>
    </Button>
  );
}

/** Browsers have no clipboard API over plain HTTP, except on localhost. */
export async function writeClipboard(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) {
    await navigator.clipboard.writeText(text);
    return;
  }
  const area = document.createElement('textarea');
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
}

export function CodeBlock({ code, label }: { readonly code: string; readonly label: string }): ReactElement {
  return (
    <div className="code-block">
      <pre tabIndex={0} aria-label={label}>
        <code>{code}</code>
      </pre>
      <CopyButton text={code} />
    </div>
  );
}

export function Progress(props: {
  readonly value: number | undefined;
  readonly max: number;
  readonly label: string;
  readonly tone?: Tone;
}): ReactElement {
  const { value, max, label, tone = 'info' } = props;
  const share = value === undefined || max <= 0 ? undefined : Math.min(100, (value / max) * 100);
  return (
    <div
      className={`progress ${tone} ${share === undefined ? 'unknown' : ''}`}
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      {...(share === undefined ? {} : { 'aria-valuenow': Math.round(share) })}
    >
      <span style={share === undefined ? undefined : { inlineSize: `${share}%` }} />
    </div>
  );
}

export function Mono({ children }: { readonly children: ReactNode }): ReactElement {
  return <span className="mono">{children}</span>;
}

/** The subject of a cell, with muted details beside it. */
export function Titled({ top, children }: { readonly top: ReactNode; readonly children: ReactNode }): ReactElement {
  return (
    <div className="titled">
      <div>{top}</div>
      <div className="muted small" title={typeof children === 'string' ? children : undefined}>
        {children}
      </div>
    </div>
  );
}

/** Names and values. Undefined and false values are omitted. */
export function Facts(props: {
  readonly of: Readonly<Record<string, ReactNode>>;
  /** Uses as many columns as fit. */
  readonly isWide?: boolean;
}): ReactElement {
  return (
    <dl className={props.isWide === true ? 'facts wide' : 'facts'}>
      {Object.entries(props.of).map(
        ([name, value]) =>
          value !== undefined &&
          value !== false && (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
      )}
    </dl>
  );
}

export interface Column<R> {
  readonly head: string;
  readonly cell: (row: R) => ReactNode;
  readonly align?: 'end';
  /** Its share of the width that the other columns leave. What does not fit is cut, so that each row is one line. */
  readonly grow?: number;
  /** Shown only where there is much room, or as a line of a card on a phone. */
  readonly isSecondary?: boolean;
  /** For a column of buttons. Its head is only for screen readers. */
  readonly isHeadHidden?: boolean;
  /** Replaces the text of the head. */
  readonly headCell?: ReactNode;
  /** The name of the column in the address. A column without a name is always shown. */
  readonly name?: string;
  /** What the rows are sorted by, if all of them are loaded. */
  readonly sort?: (row: R) => string;
  /** The values of the filter `order` by which the gateway sorts by this column: down, and up if it does. */
  readonly orders?: readonly [down: string, up?: string];
  /** How the rows are sorted by this column now. */
  readonly sorts?: 'ascending' | 'descending' | 'none';
  /** For the column of check boxes. */
  readonly isCheck?: boolean;
}

/** A column of buttons. */
export function actions<R>(cell: (row: R) => ReactNode): Column<R> {
  return { head: t.common.actions, isHeadHidden: true, align: 'end', cell };
}

/** Identifies a row that has an `id`. */
export function idOf(row: object): string {
  return 'id' in row ? String(row.id) : '';
}

export interface TableProps<R> {
  readonly label: string;
  readonly columns: readonly Column<R>[];
  readonly rows: readonly R[];
  /** Rows without an `id` need a key. */
  readonly rowKey?: (row: R) => string;
  readonly rowClass?: (row: R) => string;
}

export function Table<R extends object>(props: TableProps<R>): ReactElement {
  const { label, columns, rows, rowKey = idOf, rowClass } = props;
  const shares = columns.reduce((sum, { grow = 0 }) => sum + grow, 0);
  return (
    <table className={shares > 0 ? 'table lines' : 'table'} role="table" aria-label={label}>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map((column) => (
            <th
              key={column.head}
              role="columnheader"
              scope="col"
              aria-sort={column.sorts}
              className={classOf(column)}
              style={column.grow === undefined ? undefined : { inlineSize: `${(column.grow / shares) * 100}%` }}
            >
              {column.headCell ??
                (column.isHeadHidden === true ? <span className="visually-hidden">{column.head}</span> : column.head)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <tr key={rowKey(row)} role="row" className={rowClass?.(row)}>
            {columns.map((column) => (
              <td
                key={column.head}
                role="cell"
                className={classOf(column)}
                data-label={column.isHeadHidden === true ? undefined : column.head}
              >
                {column.cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function classOf<R>({ align, grow, isSecondary, isHeadHidden, isCheck }: Column<R>): string {
  const kind = isCheck === true ? 'check' : isHeadHidden === true && 'acts';
  const classes = [align, grow !== undefined && 'grow', isSecondary === true && 'secondary', kind];
  return classes.filter(Boolean).join(' ');
}

export function Countdown({ iso }: { readonly iso: string }): ReactElement {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => every(1_000, () => setNow(Date.now())), []);
  const seconds = Math.max(0, Math.round((Date.parse(iso) - now) / 1_000));
  const clock = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
  return (
    <time dateTime={iso} title={iso} className="number">
      {seconds === 0 ? t.common.now : t.common.inClock(clock)}
    </time>
  );
}
